//! Layers into one: which value holds, and who may set it.
//!
//! Invariant: the managed file is a ceiling, the workspace file only tightens, and lists only grow tighter: forbidden
//! paths and commands of all layers hold together. Refuses, rather than ignores, a value that would loosen.

use super::error::Looser;
use super::layers::{Layer, Overrides};
use super::{
    ConfigError, Deadline, Directories, Hold, KnowledgeText, Origin, Permission, Program, Require, Source, Sourced, Surroundings,
    knowledge, workspace,
};
use stayexec_policy::rule::Rule;
use stayexec_policy::{CommandClass, GateDecision, Matrix, Shell, Tier, Unknown};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A resolved configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The workspace.
    pub workspace: PathBuf,
    /// The program's own folders.
    pub directories: Directories,
    /// The home folder.
    pub home: PathBuf,
    /// How much the agent may do on its own.
    pub tier: Sourced<Tier>,
    /// Who is there to answer.
    pub origin: Sourced<Origin>,
    /// How long a question waits.
    pub deadline: Sourced<Deadline>,
    /// The least mode.
    pub require: Sourced<Require>,
    /// Where a start waits for its answer.
    pub hold: Sourced<Hold>,
    /// Whether STAYEXEC_APPROVAL_GATE=0 counts.
    pub gate_off: Sourced<Permission>,
    /// Whether `run --observe` may be used.
    pub observe: Sourced<Permission>,
    /// All fifteen cells.
    pub matrix: Vec<(Tier, CommandClass, Sourced<GateDecision>)>,
    /// Pipes, substitutions and expansions.
    pub shell: Sourced<Shell>,
    /// Programs that nobody knows.
    pub unknown: Sourced<Unknown>,
    /// Reads outside the workspace.
    pub workspace_only: Sourced<bool>,
    /// `[forbidden] paths`.
    pub forbidden_paths: Vec<Sourced<PathBuf>>,
    /// `[forbidden] commands`.
    pub forbidden_commands: Vec<Sourced<String>>,
    /// `[trust] dirs`.
    pub trust_dirs: Vec<Sourced<PathBuf>>,
    /// `[[rule]]`, managed first.
    pub rules: Vec<Sourced<Rule>>,
    /// `[program.NAME]`.
    pub programs: BTreeMap<String, Sourced<Program>>,
    /// Knowledge files, in the order in which they count.
    pub knowledge: Vec<KnowledgeText>,
}

/// Reads all layers and resolves them.
///
/// # Errors
/// Any [`ConfigError`]; with one, no run may start.
pub fn load(overrides: &Overrides, around: &Surroundings) -> Result<Settings, ConfigError> {
    let directories = Directories::resolve(around)?;
    let named = overrides.workspace.clone().or_else(|| around.variable("STAYEXEC_WORKSPACE").map(PathBuf::from));
    let workspace = workspace::find(named.as_deref(), around)?;
    let layers = Layers {
        managed: Layer::read(&around.managed, around)?,
        flags: Layer::of(overrides),
        variables: Layer::environment(around)?,
        workspace: Layer::read(&workspace.join(".stayexec.toml"), around)?,
        user: Layer::read(&directories.config_file(), around)?,
    };
    layers.only_tightens()?;
    Ok(Settings {
        tier: layers.settle("tier", |layer| layer.tier.as_ref(), Tier::default())?,
        origin: layers.settle("origin", |layer| layer.origin.as_ref(), Origin::Interactive)?,
        deadline: layers.settle("deadline", |layer| layer.deadline.as_ref(), Deadline::DEFAULT)?,
        require: layers.settle("require", |layer| layer.require.as_ref(), Require::Verify)?,
        hold: layers.settle("hold", |layer| layer.hold.as_ref(), Hold::Image)?,
        gate_off: layers.settle("gate_off", |layer| layer.gate_off.as_ref(), Permission::Allow)?,
        observe: layers.settle("observe", |layer| layer.observe.as_ref(), Permission::Allow)?,
        matrix: layers.matrix()?,
        shell: layers.settle("classify.shell", |layer| layer.shell.as_ref(), Shell::Normal)?,
        unknown: layers.settle("classify.unknown", |layer| layer.unknown.as_ref(), Unknown::Write)?,
        workspace_only: layers.settle("classify.workspace_only", |layer| layer.workspace_only.as_ref(), false)?,
        forbidden_paths: layers.all().into_iter().flat_map(|layer| layer.forbidden_paths.clone()).collect(),
        forbidden_commands: layers.all().into_iter().flat_map(|layer| layer.forbidden_commands.clone()).collect(),
        // A managed list is the whole list: one more folder would loosen it.
        trust_dirs: if layers.managed.trust_dirs.is_empty() { &layers.user } else { &layers.managed }.trust_dirs.clone(),
        rules: layers.all().into_iter().flat_map(|layer| layer.rules.clone()).collect(),
        programs: layers.programs(),
        home: around.home().ok_or(ConfigError::NoHome)?,
        knowledge: knowledge::read(around, &directories, &workspace)?,
        workspace,
        directories,
    })
}

/// How much a value lets through; more is looser.
trait Looseness: Clone {
    fn looseness(&self) -> u64;
    fn word(&self) -> String;
}

macro_rules! looseness {
    ($t:ty, |$value:ident| $looseness:expr, $word:expr) => {
        impl Looseness for $t {
            fn looseness(&self) -> u64 {
                let $value = *self;
                $looseness
            }
            fn word(&self) -> String {
                let $value = *self;
                $word
            }
        }
    };
}
looseness!(Tier, |tier| tier as u64, format!("\"{tier}\""));
looseness!(GateDecision, |cell| 2 - cell as u64, format!("\"{cell}\""));
looseness!(Deadline, |deadline| deadline.duration().as_secs(), format!("\"{deadline}\""));
looseness!(Require, |require| require as u64, json(&require));
// Neither lets anything through that the other does not.
looseness!(
    Hold,
    |hold| match hold {
        Hold::Image | Hold::Call => 0,
    },
    json(&hold)
);
looseness!(Permission, |permission| 1 - permission as u64, json(&permission));
looseness!(Shell, |shell| u64::from(shell == Shell::Normal), json(&shell));
looseness!(Unknown, |unknown| u64::from(unknown == Unknown::Write), json(&unknown));
looseness!(bool, |strict| u64::from(!strict), strict.to_string());
looseness!(
    Origin,
    |origin| match origin {
        Origin::Unattended => 0,
        Origin::Interactive => 1,
        Origin::Background => 2,
    },
    json(&origin)
);

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

struct Layers {
    managed: Layer,
    flags: Layer,
    variables: Layer,
    workspace: Layer,
    user: Layer,
}

impl Layers {
    fn all(&self) -> [&Layer; 3] {
        [&self.managed, &self.workspace, &self.user]
    }

    /// What a workspace file may not have at all.
    fn only_tightens(&self) -> Result<(), ConfigError> {
        let refuse = |source: &Source, key: &str| Err(ConfigError::WorkspaceKey { place: source.clone(), key: key.to_owned() });
        if let Some(dir) = self.workspace.trust_dirs.first() {
            return refuse(&dir.source, "trust.dirs");
        }
        if let Some((source, key)) = &self.workspace.outward {
            return refuse(source, key);
        }
        if let Some(rule) = self.workspace.rules.iter().find(|rule| rule.value.decision == GateDecision::Allow) {
            return refuse(&rule.source, "a rule with decision = \"allow\"");
        }
        Ok(())
    }

    fn settle<'a, T: Looseness + 'a>(
        &'a self,
        key: &str,
        get: impl Fn(&'a Layer) -> Option<&'a Sourced<T>>,
        default: T,
    ) -> Result<Sourced<T>, ConfigError> {
        let managed = get(&self.managed);
        let user = get(&self.user).cloned().unwrap_or_else(|| Sourced::default(default));
        let standing = match managed {
            Some(managed) if user.source == Source::Default => managed.clone(),
            _ => user,
        };
        let standing = match get(&self.workspace) {
            Some(own) if own.value.looseness() > standing.value.looseness() => {
                return Err(looser(key, own, &standing, "a workspace file can only tighten"));
            }
            Some(own) => own.clone(),
            None => standing,
        };
        let chosen = get(&self.flags).or_else(|| get(&self.variables)).cloned().unwrap_or(standing);
        match managed {
            Some(managed) if chosen.value.looseness() > managed.value.looseness() => {
                if chosen.source.explicit() {
                    return Err(looser(key, &chosen, managed, "the managed file cannot be loosened"));
                }
                Ok(managed.clone())
            }
            _ => Ok(chosen),
        }
    }

    fn matrix(&self) -> Result<Vec<(Tier, CommandClass, Sourced<GateDecision>)>, ConfigError> {
        let table = Matrix::default();
        let mut cells = Vec::new();
        for tier in Tier::ALL {
            for class in CommandClass::ALL {
                let get = |layer| Layer::cell(layer, tier, class);
                for layer in [&self.managed, &self.user] {
                    let Some(set) = get(layer) else { continue };
                    if let Err(loosened) = Matrix::default().set(tier, class, set.value) {
                        return Err(ConfigError::Value { source_name: set.source.to_string(), message: loosened.to_string() });
                    }
                }
                let key = format!("matrix.{tier}.{class}");
                cells.push((tier, class, self.settle(&key, get, table.decision(tier, class))?));
            }
        }
        Ok(cells)
    }

    /// Each key of a program holds as soon as one layer sets it: both only raise.
    fn programs(&self) -> BTreeMap<String, Sourced<Program>> {
        let mut programs: BTreeMap<String, Sourced<Program>> = BTreeMap::new();
        for (name, own) in self.all().into_iter().flat_map(|layer| &layer.programs) {
            let known = programs.entry(name.clone()).or_insert_with(|| own.clone());
            known.value.require_approval_for_medium_risk |= own.value.require_approval_for_medium_risk;
            known.value.risk_level = known.value.risk_level.max(own.value.risk_level);
        }
        programs
    }
}

impl Layer {
    fn cell(&self, tier: Tier, class: CommandClass) -> Option<&Sourced<GateDecision>> {
        self.matrix.iter().find(|(t, c, _)| (*t, *c) == (tier, class)).map(|(_, _, cell)| cell)
    }
}

fn looser<T: Looseness>(key: &str, wanted: &Sourced<T>, standing: &Sourced<T>, advice: &'static str) -> ConfigError {
    ConfigError::Looser(Box::new(Looser {
        place: wanted.source.clone(),
        key: key.to_owned(),
        wanted: wanted.value.word(),
        standing: standing.value.word(),
        standing_place: standing.source.clone(),
        advice,
    }))
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
