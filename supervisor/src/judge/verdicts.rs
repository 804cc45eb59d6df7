//! A judgement in the words of the wire.
//!
//! Invariant: what is shown, kept or sent of a start has no secrets. Refuses to send what was not judged as anything but a denial.

use super::agent::Reading;
use super::judgement::Judgement;
use super::text;
use stayexec_policy::{CommandClass, redact};
use stayexec_protocol::{Asked, Decision, Event, Reason, Verdict};

pub(super) fn class_of(rank: u8) -> CommandClass {
    CommandClass::ALL.get(usize::from(rank)).copied().unwrap_or(CommandClass::Destructive)
}

/// What becomes of a start that cannot be judged.
pub(super) fn unjudged() -> Judgement {
    Judgement {
        decision: Decision::Deny,
        class: CommandClass::Destructive,
        reason: Reason::Unreadable,
        note: "it cannot be judged".into(),
        repeatable: false,
        grant: None,
        pattern: None,
        commands: vec![],
        agent: false,
        keeps: false,
        ignores_hangup: false,
    }
}

/// The call as it may be stored and shown.
fn told(asked: &Asked) -> Asked {
    let target = redact::text(&String::from_utf8_lossy(&asked.target));
    let safe = |bytes: &[u8]| text::folded(bytes).into_bytes();
    Asked { function: safe(&asked.function), target: safe(target.as_bytes()), site: safe(&asked.site) }
}

pub(super) fn verdict(event: &Event, reading: &Reading, judgement: &Judgement) -> Verdict {
    let argv = redact::argv(&event.argv);
    let command = reading.command().map(|text| text::command(&redact::text(&String::from_utf8_lossy(text))));
    Verdict {
        call: event.call,
        decision: judgement.decision,
        class: judgement.class as u8,
        reason: judgement.reason,
        shown: command.unwrap_or_else(|| text::line(&argv)).into_bytes(),
        argv,
        note: redact::text(&judgement.note).into_bytes(),
        question: None,
        repeatable: judgement.repeatable,
        asked: event.asked.as_ref().map(told),
        agent: judgement.agent,
        keeps: judgement.keeps,
        ignores_hangup: judgement.ignores_hangup,
    }
}
