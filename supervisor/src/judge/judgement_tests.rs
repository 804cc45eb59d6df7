//! The order of judgement, as a table.

use super::super::session::testing::{event, session, workspace};
use super::*;
use crate::config::{Cell, Frozen, PathText, Program};
use stayexec_policy::{CommandClass, Tier};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn judged(with: impl FnOnce(&mut Frozen), event: &Event) -> Result<Judgement> {
    let (mut session, _messages) = session(with)?;
    let (workspace, _dir) = workspace()?;
    Ok(judge(&mut session, &workspace, event, 0))
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
    let (workspace, _dir) = workspace()?;
    let mut decided = |event: &Event| judge(&mut session, &workspace, event, 0).decision;
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
    for word in ["read", "nonsense", ""] {
        assert!(judged(|_| {}, &declare(word))?.class >= CommandClass::Write, "{word}");
    }
    Ok(())
}

#[test]
fn rules_stand_between_block_and_allow() -> Result<()> {
    let rule = |decision| crate::config::PlacedRule {
        rule: crate::config::Rule {
            r#match: vec!["frobnicate".into()],
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
