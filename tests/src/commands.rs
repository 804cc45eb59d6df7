//! The commands of a scene: `stayexec` by its verbs, and what they print.

use crate::{Entry, Launch, Outcome, Question, Scene, until};
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

impl Scene {
    /// `stayexec`, to be given words.
    #[must_use]
    pub fn stayexec(&self) -> Launch<'_> {
        Launch::new(self).words([self.binary()])
    }

    /// `stayexec run`, to be given flags and a command.
    #[must_use]
    pub fn run(&self) -> Launch<'_> {
        self.stayexec().words(["run"])
    }

    /// A gated command in the readonly tier with nobody to ask, by the floor of judged execs alone.
    ///
    /// # Errors
    /// It does not end in time.
    pub fn readonly<S: AsRef<OsStr>>(&self, command: impl IntoIterator<Item = S>) -> Result<Outcome> {
        self.run().tier("readonly").origin("unattended").unconfined().command(command).finish()
    }

    /// A gated command in the full tier with nobody to ask: the positive control.
    ///
    /// # Errors
    /// It does not end in time.
    pub fn full<S: AsRef<OsStr>>(&self, command: impl IntoIterator<Item = S>) -> Result<Outcome> {
        self.run().tier("full").origin("unattended").unconfined().command(command).finish()
    }

    /// A command without any gate.
    ///
    /// # Errors
    /// It does not end in time.
    pub fn ungated<S: AsRef<OsStr>>(&self, command: impl IntoIterator<Item = S>) -> Result<Outcome> {
        self.ungated_launch(command).finish()
    }

    /// A command without any gate, not started yet.
    pub fn ungated_launch<S: AsRef<OsStr>>(&self, command: impl IntoIterator<Item = S>) -> Launch<'_> {
        Launch::new(self).words(command)
    }

    /// Whether `stayexec verb --help` tells of `what`.
    #[must_use]
    pub fn offers(&self, verb: &str, what: &str) -> bool {
        static SEEN: OnceLock<Mutex<HashMap<String, String>>> = OnceLock::new();
        let Ok(mut seen) = SEEN.get_or_init(Mutex::default).lock() else { return false };
        let help = seen.entry(verb.to_owned()).or_insert_with(|| {
            let words = if verb.is_empty() { vec!["--help"] } else { vec![verb, "--help"] };
            self.stayexec().words(words).finish().map(|o| o.out()).unwrap_or_default()
        });
        help.contains(what)
    }

    /// The open questions.
    ///
    /// # Errors
    /// `pending --json` fails or does not print an array.
    pub fn pending(&self) -> Result<Vec<Question>> {
        Question::all(&self.stayexec().words(["pending", "--json"]).finish()?)
    }

    /// The questions that agents have given up.
    ///
    /// # Errors
    /// As [`Scene::pending`].
    pub fn abandoned(&self) -> Result<Vec<Question>> {
        Question::all(&self.stayexec().words(["pending", "--abandoned", "--json"]).finish()?)
    }

    /// Waits until `count` questions are open.
    ///
    /// # Errors
    /// It takes more than 30 s.
    pub fn asked(&self, count: usize) -> Result<Vec<Question>> {
        let mut last = Vec::new();
        let found = until(&format!("{count} open questions"), Duration::from_secs(30), || {
            last = self.pending().ok()?;
            (last.len() == count).then(|| last.clone())
        });
        found.with_context(|| format!("open: {last:?}"))
    }

    /// Waits until one question is open.
    ///
    /// # Errors
    /// It takes more than 30 s.
    pub fn asked_once(&self) -> Result<Question> {
        self.asked(1)?.pop().context("one question")
    }

    /// Answers a question: `words` are a verb and what goes with it, the id comes behind the verb.
    ///
    /// # Errors
    /// The command does not end in time.
    pub fn answer(&self, question: &Question, words: &[&str]) -> Result<Outcome> {
        let (verb, rest) = words.split_first().context("a verb")?;
        self.stayexec().words([verb]).words([&question.audit_id]).words(rest).finish()
    }

    /// The history of the work folder.
    ///
    /// # Errors
    /// `history --json` fails or does not print an array.
    pub fn history(&self) -> Result<Vec<Entry>> {
        Entry::all(&self.stayexec().words(["history", "--json"]).finish()?)
    }
}
