//! The order of judgement, as a table.

use super::super::agent::Reading;
use super::super::leads;
use super::super::session::testing::{event, session};
use super::*;
use crate::config::{Cell, Frozen, PathText, Program, RiskLevel};
use stayexec_policy::{CommandClass, Tier};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn judged(with: impl FnOnce(&mut Frozen), event: &Event) -> Result<Judgement> {
    let (mut session, _messages) = session(with)?;
    Ok(judge_in(&mut session, event))
}

fn judge_in(session: &mut Session, event: &Event) -> Judgement {
    let operands = facts::operands(session, event, &Reading::PLAIN);
    let paths: Vec<_> = operands.opened.iter().map(|operand| operand.path.clone()).collect();
    let leads = leads::in_time(&leads::View::of(event), &paths);
    judge(session, &Followed { reading: agent::read(session, event), event: event.clone(), operands, leads }, 0)
}

fn outcome(with: impl FnOnce(&mut Frozen), event: &Event) -> Result<(Decision, Reason)> {
    judged(with, event).map(|judgement| (judgement.decision, judgement.reason))
}

/// Nothing is known of it: Write.
fn unknown() -> Event {
    event("/usr/bin/frobnicate", &["frobnicate", "x"])
}

fn launched(path: &str, words: &[&str]) -> Event {
    Event { launch: true, ..event(path, words) }
}

fn set(frozen: &mut Frozen, tier: Tier, class: CommandClass, decision: GateDecision) {
    frozen.matrix.iter_mut().filter(|cell| (cell.tier, cell.class) == (tier, class)).for_each(|cell| *cell = Cell { decision, ..*cell });
}

#[test]
fn each_tier_and_origin() -> Result<()> {
    use Decision::{Allow, Deny, Hold};
    for (tier, origin, expected) in [
        (Tier::ReadOnly, Origin::Interactive, (Deny, Reason::Matrix)),
        (Tier::ReadOnly, Origin::Background, (Deny, Reason::Matrix)),
        (Tier::Supervised, Origin::Interactive, (Hold, Reason::Matrix)),
        (Tier::Supervised, Origin::Background, (Allow, Reason::Background)),
        (Tier::Supervised, Origin::Unattended, (Deny, Reason::Unattended)),
        (Tier::Full, Origin::Unattended, (Allow, Reason::Matrix)),
    ] {
        let got = outcome(|frozen| (frozen.tier, frozen.origin) = (tier, origin), &unknown())?;
        assert_eq!(got, expected, "{tier} {origin:?}");
    }
    Ok(())
}

#[test]
fn a_launch_is_allowed_in_every_tier_and_only_forbidden_stops_it() -> Result<()> {
    let readonly = |frozen: &mut Frozen| frozen.tier = Tier::ReadOnly;
    let launch = judged(readonly, &launched("/usr/bin/frobnicate", &["frobnicate"]))?;
    assert_eq!((launch.decision, launch.reason, launch.repeatable), (Decision::Allow, Reason::Launch, false));
    let forbidden = outcome(readonly, &launched("/usr/bin/cat", &["cat", "/home/dev/.ssh/id_ed25519"]))?;
    assert_eq!(forbidden, (Decision::Deny, Reason::Forbidden));
    Ok(())
}

#[test]
fn what_the_launched_process_becomes_is_judged() -> Result<()> {
    let (mut session, _messages) = session(|frozen| frozen.tier = Tier::ReadOnly)?;
    let mut decided = |event: &Event| judge_in(&mut session, event).decision;
    assert_eq!(decided(&launched("/usr/bin/bash", &["bash", "-c", "rm -rf x"])), Decision::Allow);
    assert_eq!(decided(&event("/usr/bin/rm", &["rm", "-rf", "x"])), Decision::Deny);
    Ok(())
}

#[test]
fn forbidden_comes_before_everything_that_would_allow() -> Result<()> {
    let open = |frozen: &mut Frozen| {
        frozen.tier = Tier::Full;
        frozen.gate_off = true;
        frozen.forbidden_paths.push(PathText::Text("/srv/secret".into()));
        frozen.forbidden_commands.push("docker push".into());
        frozen.places.own.push(PathText::Text("/home/dev/.local/state/stayexec".into()));
    };
    for words in [
        &["cat", "/srv/secret/x"][..],
        &["frobnicate", "--file=/srv/secret"],
        &["cat", "../.aws/credentials"],
        &["cat", "/home/dev/.local/state/stayexec/x.journal"],
        &["docker", "push", "image"],
    ] {
        let path = format!("/usr/bin/{}", words[0]);
        assert_eq!(outcome(open, &event(&path, words))?, (Decision::Deny, Reason::Forbidden), "{words:?}");
    }
    assert_eq!(outcome(open, &event("/usr/bin/docker", &["docker", "pull", "push"]))?.0, Decision::Allow);
    assert_eq!(outcome(open, &event("/usr/bin/cat", &["cat", "/srv/secrets"]))?.0, Decision::Allow);
    Ok(())
}

#[test]
fn a_block_of_the_matrix_is_lifted_by_nothing() -> Result<()> {
    let blocked = |frozen: &mut Frozen| {
        frozen.gate_off = true;
        frozen.origin = Origin::Background;
        set(frozen, Tier::Supervised, CommandClass::Write, GateDecision::Block);
    };
    assert_eq!(outcome(blocked, &unknown())?, (Decision::Deny, Reason::Matrix));
    Ok(())
}

#[test]
fn risk_levels_raise_and_flags_park_in_the_background() -> Result<()> {
    let program = |frozen: &mut Frozen, risk_level, flag| {
        frozen.origin = Origin::Background;
        frozen.programs.insert("frobnicate".into(), Program { require_approval_for_medium_risk: flag, risk_level });
    };
    let high = judged(|frozen| program(frozen, Some(RiskLevel::High), false), &unknown())?;
    assert_eq!((high.class, high.decision), (CommandClass::Destructive, Decision::Allow));
    let flagged = judged(|frozen| program(frozen, None, true), &unknown())?;
    assert_eq!((flagged.decision, flagged.repeatable), (Decision::Hold, false));
    Ok(())
}

#[test]
fn gate_off_and_observe_say_so() -> Result<()> {
    assert_eq!(outcome(|frozen| frozen.gate_off = true, &unknown())?, (Decision::Allow, Reason::GateOff));
    let observed = judged(
        |frozen| {
            frozen.observe = true;
            frozen.tier = Tier::ReadOnly;
        },
        &unknown(),
    )?;
    assert_eq!((observed.decision, observed.reason), (Decision::Allow, Reason::Observed));
    assert!(observed.note.starts_with("would be denied (matrix): "));
    Ok(())
}

#[test]
fn a_declared_class_only_raises() -> Result<()> {
    let declare = |word: &str| Event { environment: vec![format!("STAYEXEC_DECLARED_CLASS={word}").into_bytes()], ..unknown() };
    assert_eq!(judged(|_| {}, &declare("destructive"))?.class, CommandClass::Destructive);
    for word in ["read", ""] {
        assert!(judged(|_| {}, &declare(word))?.class == CommandClass::Write, "{word}");
    }
    let unknown = judged(|_| {}, &declare("nonsense"))?;
    assert_eq!((unknown.class, unknown.decision), (CommandClass::Destructive, Decision::Hold));
    assert!(unknown.note.contains("`nonsense`"), "{}", unknown.note);
    let blocked = judged(|frozen| frozen.tier = Tier::ReadOnly, &declare("nonsense"))?;
    assert!(blocked.note.contains("`nonsense`"), "{}", blocked.note);
    Ok(())
}

#[test]
fn where_an_operand_leads_has_to_be_known() -> Result<()> {
    let (mut session, _messages) = session(|frozen| frozen.tier = Tier::Full)?;
    let event = event("/usr/bin/cat", &["cat", "x"]);
    let operands = facts::operands(&session, &event, &Reading::PLAIN);
    let path = operands.opened.first().ok_or("nothing is opened")?.path.clone();
    let mut outcome = |leads: leads::Leads| {
        let judgement =
            judge(&mut session, &Followed { event: event.clone(), operands: operands.clone(), leads, reading: Reading::PLAIN }, 0);
        (judgement.decision, judgement.reason)
    };
    assert_eq!(outcome(Err("it hangs".into())), (Decision::Deny, Reason::Unreadable));
    for (place, expected) in [("/srv/x", (Decision::Allow, Reason::Matrix)), ("/home/dev/.ssh/x", (Decision::Deny, Reason::Forbidden))] {
        let leads = [(path.clone(), vec!["/srv/y".into(), place.into()])];
        assert_eq!(outcome(Ok(leads.into())), expected, "{place}");
    }
    Ok(())
}

#[test]
fn an_allowing_rule_covers_no_start_that_loads_other_code() -> Result<()> {
    let allow = |frozen: &mut Frozen| {
        let pattern = vec![stayexec_policy::rule::Token::One("git".into())];
        let rule =
            crate::config::Rule { pattern, decision: GateDecision::Allow, message: None, examples: vec![], counter_examples: vec![] };
        frozen.rules = vec![crate::config::PlacedRule { rule, place: "x:1".into() }];
    };
    let push = |variable: &str| Event { environment: vec![variable.into()], ..event("/usr/bin/git", &["git", "push"]) };
    let plain = judged(allow, &push("A=b"))?;
    assert_eq!((plain.decision, plain.reason), (Decision::Allow, Reason::Rule));
    assert!(plain.grant.is_some());
    for variable in ["GIT_SSH_COMMAND=sh x", "LD_PRELOAD=/tmp/x.so", "NODE_OPTIONS=-r x"] {
        assert_eq!(outcome(allow, &push(variable))?, (Decision::Hold, Reason::Matrix), "{variable}");
    }
    Ok(())
}

#[test]
fn rules_stand_between_block_and_allow() -> Result<()> {
    let rule = |decision| crate::config::PlacedRule {
        rule: crate::config::Rule {
            pattern: vec![stayexec_policy::rule::Token::One("frobnicate".into())],
            decision,
            message: None,
            examples: vec![],
            counter_examples: vec![],
        },
        place: "x:1".into(),
    };
    for (tier, origin, decision, expected) in [
        (Tier::Supervised, Origin::Interactive, GateDecision::Allow, (Decision::Allow, Reason::Rule)),
        (Tier::Supervised, Origin::Unattended, GateDecision::Allow, (Decision::Allow, Reason::Rule)),
        (Tier::ReadOnly, Origin::Interactive, GateDecision::Allow, (Decision::Deny, Reason::Matrix)),
        (Tier::Full, Origin::Interactive, GateDecision::Block, (Decision::Deny, Reason::Rule)),
        (Tier::Full, Origin::Interactive, GateDecision::Prompt, (Decision::Hold, Reason::Rule)),
        (Tier::Full, Origin::Background, GateDecision::Prompt, (Decision::Hold, Reason::Rule)),
        (Tier::Full, Origin::Unattended, GateDecision::Prompt, (Decision::Deny, Reason::Unattended)),
    ] {
        let got = outcome(
            |frozen| {
                (frozen.tier, frozen.origin) = (tier, origin);
                frozen.rules = vec![rule(decision)];
            },
            &unknown(),
        )?;
        assert_eq!(got, expected, "{tier} {origin:?} {decision}");
    }
    Ok(())
}
