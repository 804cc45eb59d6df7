//! A resolved configuration as a table.

use super::{KnowledgeText, Settings, Sourced};
use serde::Serialize;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its key, with dots.
    pub key: String,
    /// The value.
    pub value: serde_json::Value,
    /// Where it comes from.
    pub origin: String,
}

/// Every value that holds, in the order of the documentation.
pub fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = vec![
        row("tier", &settings.tier),
        row("origin", &settings.origin),
        row("deadline", &settings.deadline),
        row("require", &settings.require),
        row("hold", &settings.hold),
        row("gate_off", &settings.gate_off),
        row("observe", &settings.observe),
    ];
    rows.extend(settings.matrix.iter().map(|(tier, class, cell)| row(&format!("matrix.{tier}.{class}"), cell)));
    rows.extend([
        row("classify.shell", &settings.shell),
        row("classify.unknown", &settings.unknown),
        row("classify.workspace_only", &settings.workspace_only),
    ]);
    let text = |path: &Sourced<std::path::PathBuf>| path.clone().map(|path| path.to_string_lossy().into_owned());
    rows.extend(settings.forbidden_paths.iter().map(|path| row("forbidden.paths", &text(path))));
    rows.extend(settings.forbidden_commands.iter().map(|command| row("forbidden.commands", command)));
    rows.extend(settings.trust_dirs.iter().map(|path| row("trust.dirs", &text(path))));
    rows.extend(settings.rules.iter().map(|rule| row("rule", rule)));
    rows.extend(settings.programs.iter().map(|(name, program)| row(&format!("program.{name}"), program)));
    let from = |file: &KnowledgeText| Row { key: "knowledge".into(), value: meaning(file).into(), origin: file.name.clone() };
    rows.extend(settings.knowledge.iter().map(from));
    rows
}

fn meaning(file: &KnowledgeText) -> &'static str {
    if file.workspace { "only raises" } else { "own" }
}

fn row<T: Serialize>(key: &str, value: &Sourced<T>) -> Row {
    let origin = value.source.to_string();
    Row { key: key.to_owned(), value: serde_json::to_value(&value.value).unwrap_or_default(), origin }
}
