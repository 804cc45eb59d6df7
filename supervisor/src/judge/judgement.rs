//! The order of judgement: a straight list of steps, the first that decides is the recorded reason.
//!
//! Invariant: classes are only raised, a block of the matrix is lifted by nothing, and a person is asked only where no
//! earlier step decided. Refuses to ask where nobody is there: such a call is denied at once.

use super::agent::{Agents, Layer};
use super::following::Followed;
use super::forbidden::Barred;
use super::grants::Grant;
use super::raising::{flagged, led_outside, raised};
use super::remembered::{Pattern, Remembered};
use super::session::Session;
use super::{agent, environment, facts, forbidden, rules, within};
use crate::clock::Nanos;
use crate::config::{Origin, Require};
use stayexec_policy::{Assessment, CommandClass, GateDecision, Tier};
use stayexec_protocol::{Decision, Event, Reason, Stage};

/// What was decided, before anybody is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Allow, deny, or hold for a person.
    pub decision: Decision,
    /// The class.
    pub class: CommandClass,
    /// The step that decided.
    pub reason: Reason,
    /// For people: the deciding entry, or why it is refused.
    pub note: String,
    /// Nothing but the start itself went into it.
    pub repeatable: bool,
    /// What an approval covers besides this image: at once where it is allowed, and with the answer where it is held.
    pub grant: Option<Grant>,
    /// What an approval can remember.
    pub pattern: Option<Pattern>,
    /// The commands by which rules know it, where it is held: a rule may come before the answer.
    pub commands: Vec<Vec<String>>,
    /// The image is the agent's own.
    pub agent: bool,
    /// A line that the agent has a shell run, which it may give up and run again.
    pub keeps: bool,
    /// The program ignores SIGHUP from its beginning on.
    pub ignores_hangup: bool,
}

/// Judges one start by the steps of the order, and notes what its process is to the agent from now on.
pub fn judge(session: &mut Session, followed: &Followed, now: Nanos) -> Judgement {
    // What only asks whether a person will be asked uses nothing up.
    let preview = is_preview(session, &followed.event);
    let launched = if preview { session.launch.clone().covers(&followed.event) } else { session.launch.covers(&followed.event) };
    let (inner, changed) = session.inner.enter(&mut session.kept.floors, &followed.event);
    if changed {
        // What was judged before may be said again only as long as every start has the same tier.
        session.bring_kept();
    }
    let judgement = steps(session, followed, launched, inner, now);
    let judgement = if within::asks(&followed.event) {
        let note = "a run inside this one: the outer gate stays".into();
        let (decision, reason, repeatable) = (Decision::Deny, Reason::Own, false);
        Judgement { decision, reason, note, repeatable, grant: None, pattern: None, ..judgement }
    } else {
        observed(session, judgement)
    };
    let held = judgement.decision == Decision::Hold;
    let commands = if held { rules::commands(session, followed.reading.told(&followed.event)) } else { Vec::new() };
    let judgement = Judgement { commands, ..judgement };
    if !preview {
        agent::note(session, followed, &judgement, now);
    }
    judgement
}

fn steps(session: &Session, followed: &Followed, launched: bool, inner: Option<Tier>, now: Nanos) -> Judgement {
    let (event, reading) = (&followed.event, &followed.reading);
    // What a person is asked about, and what an approval covers: the model's command, where the agent has wrapped it.
    let told = reading.told(event);
    let assessment = facts::assess(session, event, reading);
    let (class, why) = raised(session, event, &assessment);
    let (class, why) = led_outside(session, followed).filter(|(outside, _)| *outside > class).unwrap_or((class, why));
    let barred = forbidden::check(session, followed);
    let image = launched || reading.layer == Layer::Image;
    let agent = image || (reading.called.is_none() && session.agents.arrives(session, event));
    // Beside a file that anybody could have written an approval of the command is of something else.
    let fresh = facts::sources_unbelieved(session, event, reading);
    // Who lets an agent run has not approved all that it will do.
    let bare = fresh || agent || Agents::may_be(event);
    // Where an operand leads can change without its name: such a start is looked at every time.
    let repeatable = barred == Ok(false) && !bare && !session.inner.is_any(&session.kept.floors);
    let keeps = !fresh && agent::is_line(session, event);
    let ignores_hangup = assessment.ignores_hangup;
    let standing = |decision, reason, note| {
        let (grant, pattern, commands) = (None, None, vec![]);
        Judgement { decision, class, reason, note, repeatable, grant, pattern, commands, agent, keeps, ignores_hangup }
    };
    let once = |judgement: Judgement| Judgement { repeatable: false, ..judgement };
    let grant = || if bare { None } else { grant(session, told, class, assessment.text_seen) };
    let approved = |judgement: Judgement| once(Judgement { grant: grant(), ..judgement });
    if let Err(Barred::Forbidden(why)) = barred {
        standing(Decision::Deny, Reason::Forbidden, why)
    } else if let Err(Barred::Unreadable(why)) = barred {
        standing(Decision::Deny, Reason::Unreadable, why)
    } else if launched {
        once(standing(Decision::Allow, Reason::Launch, "named on the command line".into()))
    } else if image {
        once(standing(Decision::Allow, Reason::Own, "the agent starts itself".into()))
    } else {
        let matrix = within::decision(session, class, inner);
        let rule = rules::strictest(session, told, assessment.trusted);
        match (matrix, rule.map(|placed| (placed.rule.decision, rules::said(placed)))) {
            (GateDecision::Block, _) => {
                standing(Decision::Deny, Reason::Matrix, blocked(within::strictest(session, inner), class, &assessment, why))
            }
            (_, Some((GateDecision::Block, said))) => standing(Decision::Deny, Reason::Rule, said),
            (_, Some((GateDecision::Prompt, said))) => {
                prompt(session, true, Judgement { grant: grant(), ..standing(Decision::Hold, Reason::Rule, said) })
            }
            _ if matches!(reading.layer, Layer::Own(_)) => {
                once(standing(Decision::Allow, Reason::Own, "the agent does this by itself".into()))
            }
            (_, Some((GateDecision::Allow, said))) if !fresh => approved(standing(Decision::Allow, Reason::Rule, said)),
            // What the matrix allows needs no approval: it is recorded as the matrix's, whatever covers it besides.
            (GateDecision::Allow, _) => standing(Decision::Allow, Reason::Matrix, why),
            (GateDecision::Prompt, _) if fresh => prompt(session, flagged(session, event), standing(Decision::Hold, Reason::Matrix, why)),
            (GateDecision::Prompt, _) => {
                let environment = environment::digest(session, event);
                let covers =
                    |known: &&Remembered| known.counts(session.run, now) && known.pattern.covers(session, told, class, &environment);
                if let Some(known) = session.kept.remembered.iter().find(covers) {
                    let note = format!("remembered: {}", known.pattern.shown());
                    approved(standing(Decision::Allow, Reason::Remembered, note))
                } else if session.grants.cover(event, class) {
                    once(standing(Decision::Allow, Reason::Grant, "covered by an approval".into()))
                } else {
                    let pattern = Pattern::of(session, told, class, environment);
                    let judgement = standing(Decision::Hold, Reason::Matrix, why);
                    prompt(session, flagged(session, event), Judgement { grant: grant(), pattern, ..judgement })
                }
            }
        }
    }
}

/// Whether the start is looked at in its call and will be judged again when it is loaded.
pub fn is_preview(session: &Session, event: &Event) -> bool {
    event.stage == Stage::Called && session.frozen.require == Require::Verify
}

/// What the answer to a question may need besides the question.
#[derive(Debug, Default)]
pub struct Terms {
    /// What an approval covers besides its image.
    pub grant: Option<Grant>,
    /// What an approval can remember.
    pub pattern: Option<Pattern>,
    /// The commands by which rules know it.
    pub commands: Vec<Vec<String>>,
}

/// The terms of a question about an event, made again.
pub fn terms(session: &Session, event: &Event) -> Terms {
    let reading = agent::read(session, event);
    let told = reading.told(event);
    let assessment = facts::assess(session, event, &reading);
    let (class, _) = raised(session, event, &assessment);
    let commands = rules::commands(session, told);
    if facts::sources_unbelieved(session, event, &reading) {
        return Terms { commands, ..Terms::default() };
    }
    let pattern = Pattern::of(session, told, class, environment::digest(session, event));
    let grant = if Agents::may_be(event) { None } else { grant(session, told, class, assessment.text_seen) };
    Terms { grant, pattern, commands }
}

/// What an approval covers besides its start. The shim alone asks in the caller's name, which is not what starts: there an
/// approval covers nothing more.
fn grant(session: &Session, event: &Event, class: CommandClass, text_seen: bool) -> Option<Grant> {
    if session.frozen.require == Require::Preload { None } else { Grant::of(event, class, text_seen) }
}

/// Who answers a prompt. One that insists parks in a background run too.
fn prompt(session: &Session, insists: bool, judgement: Judgement) -> Judgement {
    // Nobody has approved it: it covers nothing besides itself.
    let alone = |judgement: Judgement| Judgement { grant: None, pattern: None, ..judgement };
    if session.frozen.gate_off {
        let note = "prompts are switched off".into();
        return alone(Judgement { decision: Decision::Allow, reason: Reason::GateOff, note, ..judgement });
    }
    match session.frozen.origin {
        Origin::Unattended => {
            let note = format!("{} needs an approval, and this run has nobody to ask", judgement.class);
            // A grant may cover the same start elsewhere.
            alone(Judgement { decision: Decision::Deny, reason: Reason::Unattended, note, repeatable: false, ..judgement })
        }
        Origin::Background if !insists => alone(Judgement { decision: Decision::Allow, reason: Reason::Background, ..judgement }),
        Origin::Background | Origin::Interactive => Judgement { decision: Decision::Hold, repeatable: false, ..judgement },
    }
}

/// A run that only observes lets everything through, and says what it would have done.
fn observed(session: &Session, judgement: Judgement) -> Judgement {
    if !session.frozen.observe || judgement.decision == Decision::Allow {
        return judgement;
    }
    let would = if judgement.decision == Decision::Hold { "would be asked" } else { "would be denied" };
    let note = format!("{would} ({}): {}", judgement.reason, judgement.note);
    Judgement { decision: Decision::Allow, reason: Reason::Observed, note, grant: None, pattern: None, ..judgement }
}

fn blocked(tier: Tier, class: CommandClass, assessment: &Assessment, why: String) -> String {
    let line = format!("the {tier} tier refuses {class} commands");
    if class > assessment.class { format!("{line}: {why}") } else { line }
}

#[cfg(test)]
#[path = "judgement_tests.rs"]
mod tests;
