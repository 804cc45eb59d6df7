//! Reads knowledge files into tables.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use super::check;
use super::entry::{At, Entry};
use super::schema::{File, RawEntry};
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

/// A table of the shape `T`.
pub(crate) fn table<T: serde::de::DeserializeOwned>(file: &str, text: &str) -> Result<T, KnowledgeError> {
    toml::from_str(text).map_err(|error| misread(file, text, &error))
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
    let base = Knowledge::builtin();
    if let Some(flaw) = base.flaw() {
        return Err(flaw.clone());
    }
    let mut knowledge = Knowledge::over(base);
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
pub(super) fn checked(file: &str, given: &KnowledgeFile<'_>) -> Result<(), KnowledgeError> {
    let raw: File = table(file, given.text)?;
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

/// Adds the entries of a file, and says how many names it has.
pub(super) fn add(knowledge: &mut Knowledge, file: &'static str, text: &str) -> Result<usize, KnowledgeError> {
    let raw: File = table(file, text)?;
    let headers = headers(text);
    let lines = |name: &str| At { file, line: headers.get(name).copied().unwrap_or(0) };
    let mut named = 0;
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
            named += 1;
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
    Ok(named)
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
    fn unknown_keys_are_errors() {
        let files = [KnowledgeFile { name: "mine.toml", text: "[foo]\nclas = \"read\"\n", origin: Origin::Own }];
        assert!(with_files(&files).unwrap_err().what.contains("clas"));
    }
}
