//! Reads knowledge files into tables.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use super::check;
use super::entry::{At, Entry};
use super::environment::Environment;
use super::families::Families;
use super::schema::{File, RawEntry, RawEnvironment};
use super::sql::{RawSql, Sql};
use super::{Example, Knowledge, KnowledgeFile, Origin};

/// A knowledge file that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct KnowledgeError {
    /// Name of the file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong, in one line.
    pub what: String,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../knowledge/", $name)))),*]
    };
}

/// The compiled-in files; a test holds that they are well formed.
const FILES: &[(&str, &str)] = &files![
    "files.toml",
    "text.toml",
    "git.toml",
    "packages.toml",
    "projects.toml",
    "network.toml",
    "system.toml",
    "languages.toml",
    "inspect.toml",
    "machine.toml",
    "tools.toml",
    "documents.toml",
    "build.toml",
    "containers.toml",
    "cloud.toml",
    "databases.toml",
    "wrappers.toml",
    "shells.toml",
];

const ENVIRONMENT: &str = include_str!("../../knowledge/environment.toml");
const FAMILIES: &str = include_str!("../../knowledge/families.toml");
const SQL: &str = include_str!("../../knowledge/sql.toml");

/// A flawed file contributes nothing, so that its programs are unknown; the tests refuse to let one pass.
pub(super) fn builtin() -> Knowledge {
    let mut knowledge = Knowledge {
        environment: Environment::compile(&environment().unwrap_or_default()),
        families: Families::compile(&families().unwrap_or_default()),
        sql: Sql::compile(&sql().unwrap_or_default()),
        ..Knowledge::default()
    };
    for (name, text) in FILES {
        let before = knowledge.entries.len();
        if add(&mut knowledge, name, text).is_err() {
            knowledge.entries.truncate(before);
            knowledge.names.retain(|_, at| *at < before);
            knowledge.versioned.retain(|_, at| *at < before);
            knowledge.suffixed.retain(|(_, _, at)| *at < before);
        }
    }
    knowledge
}

fn environment() -> Result<RawEnvironment, KnowledgeError> {
    toml::from_str(ENVIRONMENT).map_err(|error| misread("environment.toml", ENVIRONMENT, &error))
}

fn families() -> Result<BTreeMap<String, String>, KnowledgeError> {
    toml::from_str(FAMILIES).map_err(|error| misread("families.toml", FAMILIES, &error))
}

fn sql() -> Result<RawSql, KnowledgeError> {
    toml::from_str(SQL).map_err(|error| misread("sql.toml", SQL, &error))
}

fn misread(file: &str, text: &str, error: &toml::de::Error) -> KnowledgeError {
    let line = error.span().map_or(1, |span| line_at(text, span.start));
    KnowledgeError { file: file.to_owned(), line, what: error.message().lines().collect::<Vec<_>>().join(" ") }
}

/// The line of a byte offset, counted from 1.
fn line_at(text: &str, offset: usize) -> u32 {
    let before = text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count();
    u32::try_from(before + 1).unwrap_or(u32::MAX)
}

/// The names of files, each kept once for as long as the process lives: there are few, and they are named by every entry.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

pub(super) fn with_files(files: &[KnowledgeFile<'_>]) -> Result<Knowledge, KnowledgeError> {
    let mut knowledge = Knowledge { base: Some(Knowledge::builtin()), ..Knowledge::default() };
    for file in files {
        let into = match file.origin {
            Origin::Own => &mut knowledge,
            Origin::Workspace => knowledge.tightening.get_or_insert_default(),
        };
        let name = interned(file.name);
        add(into, name, file.text)?;
        checked(name, file)?;
    }
    // Their examples get the same check as the compiled-in ones have in the tests.
    let own: Vec<Example> =
        knowledge.examples.iter().chain(knowledge.tightening.iter().flat_map(|below| &below.examples)).cloned().collect();
    let policy = crate::SecurityPolicy::default().with_knowledge(knowledge);
    for example in own {
        let class = policy.classify_command(&example.command);
        if class != example.class {
            let command = crate::display::text(&example.command, false);
            let what = format!("the example `{command}` is {class}, not {}", example.class);
            return Err(KnowledgeError { file: example.file.to_owned(), line: example.line, what });
        }
    }
    Ok(policy.into_knowledge())
}

/// What the compiled-in files are held to by the tests. A file of the workspace only raises, and may show less.
fn checked(file: &str, given: &KnowledgeFile<'_>) -> Result<(), KnowledgeError> {
    let raw: File = toml::from_str(given.text).map_err(|error| misread(file, given.text, &error))?;
    let headers = headers(given.text);
    let at = |names: &str| headers.get(names).or_else(|| headers.get(format!("\"{names}\"").as_str())).copied().unwrap_or(1);
    let flaw = |names: &str, what: String| Err(KnowledgeError { file: file.to_owned(), line: at(names), what });
    if let Some((names, name)) = check::repeated(&raw) {
        return flaw(names, format!("[{names}]: {name} stands twice"));
    }
    let own = raw.iter().filter(|_| given.origin == Origin::Own);
    match own.into_iter().find_map(|(names, entry)| Some((names, check::unshown(names, entry)?))) {
        Some((names, name)) => flaw(names, format!("[{name}]: has options that raise, and no examples of two classes that show them")),
        None => Ok(()),
    }
}

fn add(knowledge: &mut Knowledge, file: &'static str, text: &str) -> Result<(), KnowledgeError> {
    let raw: File = toml::from_str(text).map_err(|error| misread(file, text, &error))?;
    let headers = headers(text);
    let lines = |name: &str| At { file, line: headers.get(name).copied().unwrap_or(0) };
    for (names, entry) in &raw {
        let key = if headers.contains_key(names.as_str()) { names.clone() } else { format!("\"{names}\"") };
        let compiled = Entry::compile(&key, entry, ("", ""), &lines).map_err(|flaw| KnowledgeError {
            file: file.to_owned(),
            line: headers.get(flaw.name.as_str()).or_else(|| headers.get(key.as_str())).copied().unwrap_or(1),
            what: flaw.to_string(),
        })?;
        let at = knowledge.entries.len();
        knowledge.entries.push(compiled);
        for name in names.split('|') {
            knowledge.names.insert(name.into(), at);
            if entry.versioned {
                knowledge.versioned.insert(name.into(), at);
            }
            for suffix in entry.suffixes.split_whitespace() {
                knowledge.suffixed.push((name.into(), suffix.into(), at));
            }
        }
        examples(&mut knowledge.examples, file, text, entry);
    }
    Ok(())
}

fn examples(out: &mut Vec<Example>, file: &'static str, text: &str, entry: &RawEntry) {
    out.extend(entry.examples.iter().map(|(command, class)| Example {
        file,
        line: line_at(text, command.span().start),
        command: command.get_ref().clone(),
        class: *class,
    }));
    for below in entry.sub.values() {
        examples(out, file, text, below);
    }
}

/// Header (`[a.sub.b]`, without brackets) to line.
fn headers(text: &str) -> HashMap<&str, u32> {
    let mut out = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            out.insert(name, u32::try_from(index + 1).unwrap_or(u32::MAX));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compiled_in_file_is_well_formed() {
        environment().unwrap();
        families().unwrap();
        let mut knowledge = Knowledge::default();
        for (name, text) in FILES {
            let before = knowledge.names.len();
            add(&mut knowledge, name, text).unwrap();
            let raw: File = toml::from_str(text).unwrap();
            let names: usize = raw.keys().map(|names| names.split('|').count()).sum();
            assert_eq!(knowledge.names.len() - before, names, "{name} repeats a name of another file or its own");
        }
        assert!(knowledge.entries.iter().all(|entry| entry.at.line > 0));
    }

    #[test]
    fn compiled_in_files_pass_the_checks_of_others() {
        for (name, text) in FILES {
            checked(name, &KnowledgeFile { name, text, origin: Origin::Own }).unwrap();
        }
    }

    #[test]
    fn unknown_keys_are_errors() {
        let files = [KnowledgeFile { name: "mine.toml", text: "[foo]\nclas = \"read\"\n", origin: Origin::Own }];
        assert!(with_files(&files).unwrap_err().what.contains("clas"));
    }
}
