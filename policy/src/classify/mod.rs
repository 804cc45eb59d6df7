//! The classifier.

use crate::{Assessment, CommandClass, Exec, Part, Places, ReasonCode, SecurityPolicy};

fn unknown(text: String) -> Part {
    Part { text, class: CommandClass::Write, code: ReasonCode::Opaque, reason: "not looked into yet".into(), entry: None, parts: Vec::new() }
}

pub(crate) fn command(_policy: &SecurityPolicy, command: &str, _explain: bool) -> Part {
    unknown(command.to_owned())
}

pub(crate) fn words(_policy: &SecurityPolicy, argv: &[String], _explain: bool) -> Part {
    unknown(argv.join(" "))
}

pub(crate) fn exec(_policy: &SecurityPolicy, exec: &Exec<'_>, places: &Places<'_>, _explain: bool) -> (Assessment, Part) {
    let part = unknown(String::new());
    let assessment = Assessment {
        class: part.class,
        code: part.code,
        reason: part.reason.clone(),
        entry: None,
        trusted: exec.file.trusted(places),
        text_seen: false,
    };
    (assessment, part)
}
