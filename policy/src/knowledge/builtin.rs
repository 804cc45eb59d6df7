//! The compiled-in tables, read together.
//!
//! Invariant: where one of them is not understood, or says two things of one name, nothing at all is known, and the flaw is
//! kept: whoever judges by such knowledge finds nothing to be Read. The tests refuse to let a flaw pass.

use std::collections::{BTreeMap, HashSet};

use super::environment::Environment;
use super::families::Families;
use super::load::{add, table};
use super::output::{Output, RawOutput};
use super::schema::RawEnvironment;
use super::sql::{RawSql, Sql};
use super::{Knowledge, KnowledgeError};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../knowledge/", $name)))),*]
    };
}

/// A file's name, and what it says.
type Text = (&'static str, &'static str);

/// Everything that is compiled in, but what only redaction needs.
#[derive(Clone)]
struct Texts {
    programs: Vec<Text>,
    /// Calls that only look, of programs that stand in the others as what they do at worst.
    looks: Text,
    environment: Text,
    families: Text,
    sql: Text,
    output: Text,
}

fn texts() -> Texts {
    let [environment, families, sql, output, looks] = files!["environment.toml", "families.toml", "sql.toml", "output.toml", "looks.toml"];
    let programs = files![
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
        "developers.toml",
        "viewers.toml",
        "containers.toml",
        "cloud.toml",
        "databases.toml",
        "wrappers.toml",
        "shells.toml",
    ];
    Texts { programs: programs.to_vec(), looks, environment, families, sql, output }
}

pub(super) fn builtin() -> Knowledge {
    read(&texts()).unwrap_or_else(|flaw| Knowledge { flaw: Some(flaw), ..Knowledge::default() })
}

/// The table of what programs print; where it is flawed nothing is known of any.
pub(super) fn output() -> Output {
    output_of(texts().output).unwrap_or_default()
}

fn read(texts: &Texts) -> Result<Knowledge, KnowledgeError> {
    output_of(texts.output)?;
    crate::redact::checked()?;
    let mut knowledge = Knowledge {
        environment: environment(texts.environment)?,
        families: families(texts.families)?,
        sql: Sql::compile(&table::<RawSql>(texts.sql.0, texts.sql.1)?),
        ..Knowledge::default()
    };
    for (file, text) in &texts.programs {
        let before = knowledge.names.len();
        let named = add(&mut knowledge, file, text)?;
        if knowledge.names.len() - before != named {
            return Err(flawed(file, "a program stands twice, here or in a file before".into()));
        }
    }
    let mut looking = Knowledge::default();
    let (file, text) = texts.looks;
    if add(&mut looking, file, text)? != looking.names.len() {
        return Err(flawed(file, "a program stands twice".into()));
    }
    knowledge.examples.append(&mut looking.examples);
    knowledge.looking = Some(Box::new(looking));
    Ok(knowledge)
}

fn environment((file, text): Text) -> Result<Environment, KnowledgeError> {
    let raw: RawEnvironment = table(file, text)?;
    let lists = [&raw.harmless, &raw.command, &raw.load].into_iter().chain(raw.load_for.keys()).chain(raw.command_for.keys());
    once(file, lists.flat_map(|list| list.split_whitespace()))?;
    Ok(Environment::compile(&raw))
}

fn families((file, text): Text) -> Result<Families, KnowledgeError> {
    let raw: BTreeMap<String, String> = table(file, text)?;
    once(file, raw.keys().flat_map(|files| files.split('|')))?;
    Ok(Families::compile(&raw))
}

fn output_of((file, text): Text) -> Result<Output, KnowledgeError> {
    let raw: RawOutput = table(file, text)?;
    for commands in [&raw.names, &raw.begins, &raw.filters] {
        once(file, commands.keys().flat_map(|names| names.split('|')))?;
    }
    Ok(Output::compile(&raw))
}

/// A name that stands twice would be believed by one of its places.
fn once<'a>(file: &str, mut names: impl Iterator<Item = &'a str>) -> Result<(), KnowledgeError> {
    let mut seen = HashSet::new();
    names.find(|name| !seen.insert(*name)).map_or(Ok(()), |name| Err(flawed(file, format!("{name} stands twice"))))
}

fn flawed(file: &str, what: String) -> KnowledgeError {
    KnowledgeError { file: file.to_owned(), line: 1, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::load::checked;
    use crate::knowledge::{KnowledgeFile, Origin};
    use crate::{CommandClass, SecurityPolicy};

    #[test]
    fn every_compiled_in_file_is_well_formed() {
        let knowledge = read(&texts()).unwrap();
        assert!(knowledge.entries.iter().all(|entry| entry.at.line > 0));
        assert!(Knowledge::builtin().flaw().is_none());
    }

    #[test]
    fn compiled_in_files_pass_the_checks_of_others() {
        for (name, text) in texts().programs.into_iter().chain([texts().looks]) {
            checked(name, &KnowledgeFile { name, text, origin: Origin::Own }).unwrap();
        }
    }

    /// All of the texts, with one that `change` spoils.
    fn spoilt(change: impl FnOnce(&mut Texts)) -> Result<Knowledge, KnowledgeError> {
        let mut texts = texts();
        change(&mut texts);
        read(&texts)
    }

    #[test]
    fn a_table_that_is_not_understood_is_a_flaw() {
        let broken = "[x";
        for place in 0..5 {
            let flaw = spoilt(|texts| {
                let tables = [&mut texts.environment, &mut texts.families, &mut texts.sql, &mut texts.output, &mut texts.looks];
                tables.into_iter().nth(place).unwrap().1 = broken;
            });
            assert_eq!(flaw.unwrap_err().line, 1, "{place}");
        }
        for place in 0..texts().programs.len() {
            let flaw = spoilt(|texts| texts.programs[place].1 = broken).unwrap_err();
            assert_eq!(flaw.file, texts().programs[place].0);
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_a_flaw() {
        let again = "[ls]\nclass = \"read\"\n";
        assert_eq!(spoilt(|texts| texts.programs.push(("more.toml", again))).unwrap_err().file, "more.toml");
        let flaws = [
            spoilt(|texts| texts.environment.1 = "load = \"A\"\nharmless = \"B A\"\n"),
            spoilt(|texts| texts.families.1 = "\"a|b\" = \"x\"\n\"b\" = \"y\"\n"),
            spoilt(|texts| texts.output.1 = "[names]\n\"a|a\" = \"\"\n[begins]\n[filters]\n"),
        ];
        for flaw in flaws {
            assert!(flaw.unwrap_err().what.ends_with("stands twice"));
        }
    }

    #[test]
    fn nothing_is_read_by_flawed_knowledge() {
        let flaw = spoilt(|texts| texts.sql.1 = "keywords = 1").unwrap_err();
        let knowledge = Knowledge { flaw: Some(flaw), ..Knowledge::default() };
        let policy = SecurityPolicy::default().with_knowledge(knowledge);
        for text in ["ls", "x=1", "[[ -f x ]]", "LD_PRELOAD=x true", "", "for x in a; do :; done"] {
            assert_eq!(policy.classify_command(text), CommandClass::Write, "{text}");
        }
        let argv = ["ls".to_owned()];
        assert_eq!(policy.classify_words(&argv), CommandClass::Write);
        assert!(policy.explain_command("x=1").deciding().reason.contains("sql.toml:1"));
    }
}
