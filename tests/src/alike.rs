//! The same command with the gate and without it: streams and status have to be the same.
//!
//! Invariant: both run in folders of their own with the same content. Refuses to overlook a difference but for what differs
//! from run to run: the folder, process ids and times.

use crate::{Outcome, Scene};
use anyhow::Result;

/// Two scenes that were prepared alike.
#[derive(Debug)]
pub struct Alike {
    gated: Scene,
    ungated: Scene,
    environment: Vec<(String, String)>,
}

/// What a person has said who lets an agent build and install.
const LOOSENED: &str = "[matrix.full]\ndestructive = \"allow\"\nnetwork = \"allow\"\ninstall = \"allow\"\n";

/// PATH with the tools that are no part of a system: those that the tests were started with.
#[must_use]
pub fn tools_path() -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    format!("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:{own}")
}

/// Prepares both.
///
/// # Errors
/// Those of `prepare`.
pub fn alike(prepare: impl Fn(&Scene) -> Result<()>) -> Result<Alike> {
    let (gated, ungated) = (Scene::new()?, Scene::new()?);
    gated.configure(LOOSENED)?;
    prepare(&gated)?;
    prepare(&ungated)?;
    Ok(Alike { gated, ungated, environment: vec![("PATH".to_owned(), tools_path())] })
}

impl Alike {
    /// Sets a variable for both.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs `command` in both, and returns the gated outcome.
    ///
    /// # Errors
    /// One of them does not end in time.
    ///
    /// # Panics
    /// Where the two differ.
    pub fn run(&self, command: &[&str]) -> Result<Outcome> {
        let with = |mut launch: crate::Launch<'_>| {
            for (name, value) in &self.environment {
                launch = launch.env(name, value);
            }
            launch.limit(300).finish()
        };
        let ungated = with(self.ungated.ungated_launch(command))?;
        let gated = with(self.gated.run().tier("full").origin("unattended").unconfined().command(command))?;
        assert_eq!(gated.status, ungated.status, "{}\n--- without the gate\n{}", gated.told(), ungated.told());
        let same = |gated: String, ungated: String| assert_eq!(steady(&gated, &self.gated), steady(&ungated, &self.ungated), "{command:?}");
        same(gated.out(), ungated.out());
        same(gated.err(), ungated.err());
        let history = self.gated.history()?;
        assert!(!history.is_empty() && history.iter().all(|entry| entry.decision == "allow"), "{history:#?}");
        Ok(gated)
    }
}

/// The text without the scene's folder, and without times.
fn steady(text: &str, scene: &Scene) -> String {
    let text = text.replace(&scene.path("").display().to_string(), "SCENE/");
    let timed = |word: &str| {
        let number = word.trim_start_matches('(').trim_end_matches([')', ';', ',']).trim_end_matches("ms").trim_end_matches('s');
        word.contains(|c: char| c.is_ascii_digit()) && word.ends_with(['s', ')', ';']) && number.parse::<f64>().is_ok()
    };
    let line = |line: &str| line.split(' ').map(|word| if timed(word) { "TIME" } else { word }).collect::<Vec<_>>().join(" ");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
