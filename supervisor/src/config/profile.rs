//! What is known about an agent: profiles, as data in `agents/*.toml`, compiled in.
//!
//! Invariant: a profile tells what an agent's own lines look like; it holds no class and lowers none. Refuses templates that
//! could be read in two ways.

use super::template::Template;
use serde::Deserialize;
use std::sync::LazyLock;

const TEXTS: [&str; 8] = [
    include_str!("../../agents/aider.toml"),
    include_str!("../../agents/claude.toml"),
    include_str!("../../agents/codex.toml"),
    include_str!("../../agents/gemini.toml"),
    include_str!("../../agents/mini.toml"),
    include_str!("../../agents/opencode.toml"),
    include_str!("../../agents/pi.toml"),
    include_str!("../../agents/qwen.toml"),
];

/// One agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Names that a person starts it by, its own first.
    pub programs: Vec<String>,
    /// Files and folders that it writes to; `~` is the home folder.
    pub state: Vec<String>,
    /// The last components of its images' and scripts' paths, with `*` for any part of one.
    #[serde(default)]
    pub images: Vec<String>,
    /// The programs that its image is, where it is called by their names.
    #[serde(default)]
    pub names: Vec<String>,
    /// Variables that it sets, whole entries: they count as if the person had set them.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Names of variables whose value tells one start from the next and means nothing else.
    #[serde(default)]
    pub counters: Vec<String>,
    /// Lines in which it wraps the model's command, or does something for itself that is judged.
    #[serde(default, rename = "line")]
    pub lines: Vec<Line>,
    /// What it does by itself.
    #[serde(default)]
    pub own: Vec<Own>,
}

/// A line that it has a shell run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The words behind the shell's own name.
    pub argv: Vec<Template>,
}

/// A start that is its own doing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    /// The program, by the name of its file.
    pub program: String,
    /// The words behind it.
    pub argv: Vec<Template>,
    /// Variables that it has to be given, whole entries.
    #[serde(default)]
    pub environment: Vec<Template>,
    /// Names of variables that it sets for what it starts.
    #[serde(default)]
    pub sets: Vec<String>,
    /// What that starts in turn: programs with their words.
    #[serde(default)]
    pub below: Vec<Below>,
}

/// A start below one that is the agent's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Below {
    /// The program, by the name of its file.
    pub program: String,
    /// The words behind it.
    pub argv: Vec<Template>,
}

impl Profile {
    /// The profiles of all agents that are known.
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| TEXTS.iter().filter_map(|text| toml::from_str(text).ok()).collect());
        &ALL
    }

    /// The profile of an agent that a person starts by this name.
    pub fn started_as(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|profile| profile.programs.iter().any(|known| known == name))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.programs.first().map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_understood() {
        for text in TEXTS {
            let profile: Result<Profile, _> = toml::from_str(text);
            let sound = |profile: &Profile| !profile.programs.is_empty() && profile.state.iter().all(|s| s.starts_with("~/"));
            assert!(profile.as_ref().is_ok_and(sound), "{text}: {:?}", profile.err());
            // Nobody judges what is the agent's own doing, so nothing in it may be the model's.
            let own = profile.iter().flat_map(|profile| &profile.own);
            let below = |own: &Own| own.below.iter().all(|below| below.argv.iter().skip(1).all(|word| word.is_words() || !word.is_open()));
            assert!(own.into_iter().all(|own| own.argv.iter().all(|word| !word.is_open()) && below(own)), "{text}");
        }
        assert_eq!(Profile::all().len(), TEXTS.len());
    }
}
