//! One layer: what a file, the environment or the command line sets, each value with its source.
//!
//! Invariant: a missing file is an empty layer; any other failure to read one is an error. Refuses relative paths: what
//! they would be relative to is not the same for everyone who reads the file.

use super::document::{Document, line_at};
use super::{ConfigError, Deadline, Hold, Origin, Permission, Preset, Program, Require, Source, Sourced, Surroundings};
use stayexec_policy::rule::Rule;
use stayexec_policy::{CommandClass, GateDecision, SecurityPolicy, Shell, Tier, Unknown};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// Longest file that is read.
const LONGEST: u64 = 1 << 20;

/// What the command line sets.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--tier`.
    pub tier: Option<Tier>,
    /// `--origin`.
    pub origin: Option<Origin>,
    /// `--deadline`.
    pub deadline: Option<Deadline>,
    /// `--require`.
    pub require: Option<Require>,
    /// `--hold`.
    pub hold: Option<Hold>,
    /// `--workspace`.
    pub workspace: Option<PathBuf>,
    /// `--preset`.
    pub preset: Option<Preset>,
    /// `--observe`.
    pub observe: bool,
    /// `--fail-on-denied`.
    pub fail_on_denied: bool,
}

/// What one layer sets.
#[derive(Debug, Default)]
pub struct Layer {
    pub(super) tier: Option<Sourced<Tier>>,
    pub(super) origin: Option<Sourced<Origin>>,
    pub(super) deadline: Option<Sourced<Deadline>>,
    pub(super) require: Option<Sourced<Require>>,
    pub(super) hold: Option<Sourced<Hold>>,
    pub(super) gate_off: Option<Sourced<Permission>>,
    pub(super) observe: Option<Sourced<Permission>>,
    pub(super) matrix: Vec<(Tier, CommandClass, Sourced<GateDecision>)>,
    pub(super) shell: Option<Sourced<Shell>>,
    pub(super) unknown: Option<Sourced<Unknown>>,
    pub(super) workspace_only: Option<Sourced<bool>>,
    pub(super) forbidden_paths: Vec<Sourced<PathBuf>>,
    pub(super) forbidden_commands: Vec<Sourced<String>>,
    pub(super) trust_dirs: Vec<Sourced<PathBuf>>,
    pub(super) rules: Vec<Sourced<Rule>>,
    pub(super) programs: Vec<(String, Sourced<Program>)>,
    /// `[http]` or `[notify]`: where, and which.
    pub(super) outward: Option<(Source, &'static str)>,
}

impl Layer {
    /// Reads the file at `path`; a missing one sets nothing.
    pub(super) fn read(path: &Path, around: &Surroundings) -> Result<Self, ConfigError> {
        let Some(text) = read_regular(path)? else { return Ok(Self::default()) };
        let document = Document::parse(&text, path)?;
        super::outward::check(&document, path)?;
        Place { path: Arc::new(path.to_owned()), text: &text, home: around.home() }.layer(document)
    }

    /// What the command line sets.
    pub(super) fn of(overrides: &Overrides) -> Self {
        let preset = overrides.preset;
        let by_preset = preset.map_or(Source::Default, |preset| Source::Preset(preset.name()));
        let flag = |name| Source::Flag(name);
        Self {
            tier: overrides.tier.map(|tier| Sourced::new(tier, flag("--tier"))),
            deadline: overrides.deadline.map(|deadline| Sourced::new(deadline, flag("--deadline"))),
            hold: overrides.hold.map(|hold| Sourced::new(hold, flag("--hold"))),
            origin: (overrides.origin.map(|origin| Sourced::new(origin, flag("--origin"))))
                .or_else(|| Some(Sourced::new(preset?.origin()?, by_preset.clone()))),
            require: (overrides.require.map(|require| Sourced::new(require, flag("--require"))))
                .or_else(|| Some(Sourced::new(preset?.require()?, by_preset.clone()))),
            ..Self::default()
        }
    }

    /// What the environment sets.
    pub(super) fn environment(around: &Surroundings) -> Result<Self, ConfigError> {
        Ok(Self {
            tier: variable(around, "STAYEXEC_TIER", |text| text.parse::<Tier>().map_err(|e| e.to_string()))?,
            origin: variable(around, "STAYEXEC_ORIGIN", word::<Origin>)?,
            deadline: variable(around, "STAYEXEC_DEADLINE", str::parse::<Deadline>)?,
            require: variable(around, "STAYEXEC_REQUIRE", word::<Require>)?,
            hold: variable(around, "STAYEXEC_HOLD", word::<Hold>)?,
            ..Self::default()
        })
    }
}

/// The text of a file; `None` where there is none. A workspace file may be anything that an agent left there: a pipe must
/// not stop a run from starting or failing.
pub(super) fn read_regular(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed = |cause| ConfigError::Read { path: path.to_owned(), cause };
    let mut file = match OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
        other => other.map_err(failed)?,
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(io::Error::other("it is not a regular file")));
    }
    if metadata.len() > LONGEST {
        return Err(failed(io::Error::other("it is longer than 1 MiB")));
    }
    let mut bytes = Vec::new();
    (&mut file).take(LONGEST).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes).map(Some).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        ConfigError::Parse { path: path.to_owned(), line, message: "this is not UTF-8 text; save the file as UTF-8".to_owned() }
    })
}

fn variable<T>(
    around: &Surroundings,
    name: &'static str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<Sourced<T>>, ConfigError> {
    let Some(value) = around.variable(name) else { return Ok(None) };
    let value = parse(&value.to_string_lossy()).map_err(|message| ConfigError::Value { source_name: name.to_owned(), message })?;
    Ok(Some(Sourced::new(value, Source::Variable(name))))
}

fn word<T: clap::ValueEnum>(text: &str) -> Result<T, String> {
    let names = || T::value_variants().iter().filter_map(clap::ValueEnum::to_possible_value);
    let all: Vec<_> = names().map(|value| value.get_name().to_owned()).collect();
    T::from_str(text.trim(), true).map_err(|_| format!("`{text}` is none of {}", all.join(", ")))
}

/// A file whose values are being given their lines.
struct Place<'a> {
    path: Arc<PathBuf>,
    text: &'a str,
    home: Option<PathBuf>,
}

impl Place<'_> {
    fn at<T>(&self, value: Spanned<T>) -> Sourced<T> {
        let line = line_at(self.text, value.span().start);
        Sourced::new(value.into_inner(), Source::File(Arc::clone(&self.path), line))
    }

    fn wrong(&self, source: &Source, message: impl Into<String>) -> ConfigError {
        let line = if let Source::File(_, line) = source { *line } else { 1 };
        ConfigError::Parse { path: self.path.to_path_buf(), line, message: message.into() }
    }

    fn layer(&self, document: Document) -> Result<Layer, ConfigError> {
        let outward = super::outward::source_of(&document, &self.path);
        let rows = [
            (Tier::ReadOnly, document.matrix.readonly),
            (Tier::Supervised, document.matrix.supervised),
            (Tier::Full, document.matrix.full),
        ];
        let matrix = rows.into_iter().flat_map(|(tier, row)| row.into_iter().map(move |(class, cell)| (tier, class, cell)));
        let programs = document.program.into_iter().map(|(name, program)| {
            let program = self.at(program);
            if name.is_empty() || name.contains(['/', '*', '?', ' ']) {
                return Err(self.wrong(&program.source, format!("[program.\"{name}\"] can never match; a program goes by its bare name")));
            }
            Ok((name, program))
        });
        Ok(Layer {
            outward,
            tier: document.tier.map(|value| self.at(value)),
            origin: document.origin.map(|value| self.at(value)),
            deadline: document.deadline.map(|value| self.at(value)),
            require: document.require.map(|value| self.at(value)),
            hold: document.hold.map(|value| self.at(value)),
            gate_off: document.gate_off.map(|value| self.at(value)),
            observe: document.observe.map(|value| self.at(value)),
            matrix: matrix.map(|(tier, class, cell)| (tier, class, self.at(cell))).collect(),
            shell: document.classify.shell.map(|value| self.at(value)),
            unknown: document.classify.unknown.map(|value| self.at(value)),
            workspace_only: document.classify.workspace_only.map(|value| self.at(value)),
            forbidden_paths: self.paths(document.forbidden.paths)?,
            forbidden_commands: document.forbidden.commands.into_iter().map(|text| self.command(text)).collect::<Result<_, _>>()?,
            trust_dirs: self.paths(document.trust.dirs)?,
            rules: document.rule.into_iter().map(|rule| self.rule(rule)).collect::<Result<_, _>>()?,
            programs: programs.collect::<Result<_, _>>()?,
        })
    }

    fn paths(&self, paths: Vec<Spanned<String>>) -> Result<Vec<Sourced<PathBuf>>, ConfigError> {
        paths.into_iter().map(|path| self.path(path)).collect()
    }

    fn path(&self, path: Spanned<String>) -> Result<Sourced<PathBuf>, ConfigError> {
        let Sourced { value, source } = self.at(path);
        let resolved = match (value.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(&value),
        };
        if !resolved.is_absolute() {
            return Err(self.wrong(&source, format!("`{value}` is not absolute; begin it with / or ~/")));
        }
        if resolved.components().any(|part| part == std::path::Component::ParentDir) || resolved.parent().is_none() {
            return Err(self.wrong(&source, format!("`{value}` cannot be used; name a folder or file without `..` below /")));
        }
        Ok(Sourced::new(resolved, source))
    }

    fn command(&self, command: Spanned<String>) -> Result<Sourced<String>, ConfigError> {
        let command = self.at(command);
        if command.value.split_whitespace().next().is_none() {
            return Err(self.wrong(&command.source, "an empty command can never match; name its leading words"));
        }
        Ok(command)
    }

    fn rule(&self, rule: Spanned<Rule>) -> Result<Sourced<Rule>, ConfigError> {
        let rule = self.at(rule);
        rule.value.validate(&SecurityPolicy::default()).map_err(|e| self.wrong(&rule.source, e.to_string()))?;
        Ok(rule)
    }
}
