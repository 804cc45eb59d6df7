//! The layers, put one over the other.

use super::*;
use crate::config::Preset;
use std::path::Path;

struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new(managed: &str, workspace: &str, user: &str) -> std::io::Result<Self> {
        let dir = tempfile::tempdir()?;
        std::fs::create_dir_all(dir.path().join("home/proj/.git"))?;
        std::fs::create_dir_all(dir.path().join("config/stayexec"))?;
        for (path, text) in [("managed.toml", managed), ("home/proj/.stayexec.toml", workspace), ("config/stayexec/config.toml", user)] {
            if !text.is_empty() {
                std::fs::write(dir.path().join(path), text)?;
            }
        }
        Ok(Self { dir })
    }

    fn load(&self, overrides: &Overrides, variables: &[(&str, &str)]) -> Result<Settings, String> {
        let path = |name: &str| self.dir.path().join(name);
        let (home, config) = (path("home").display().to_string(), path("config").display().to_string());
        let mut all = vec![("HOME", home.as_str()), ("XDG_CONFIG_HOME", config.as_str())];
        all.extend(variables);
        load(overrides, &Surroundings::with(&path("home/proj"), &path("managed.toml"), &all)).map_err(|e| e.to_string())
    }
}

fn plain(managed: &str, workspace: &str, user: &str) -> Result<Settings, String> {
    Files::new(managed, workspace, user).map_err(|e| e.to_string())?.load(&Overrides::default(), &[])
}

fn refusal(managed: &str, workspace: &str, user: &str) -> String {
    plain(managed, workspace, user).err().unwrap_or_default()
}

fn place(source: &Source) -> String {
    source.to_string().rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn nothing_set_gives_the_defaults() -> Result<(), String> {
    let settings = plain("", "", "")?;
    assert_eq!(settings.tier, Sourced::default(Tier::Supervised));
    assert_eq!(settings.origin, Sourced::default(Origin::Interactive));
    assert_eq!(settings.require, Sourced::default(Require::Verify));
    assert_eq!(settings.matrix.len(), 15);
    Ok(())
}

#[test]
fn the_nearer_layer_wins_and_says_so() -> Result<(), String> {
    let files = Files::new("", "", "tier = \"full\"\n").map_err(|e| e.to_string())?;
    let none = Overrides::default();
    let flag = Overrides { tier: Some(Tier::ReadOnly), ..Overrides::default() };
    assert_eq!(place(&files.load(&none, &[])?.tier.source), "config.toml:1");
    let variable = [("STAYEXEC_TIER", "supervised")];
    assert_eq!(files.load(&none, &variable)?.tier, Sourced::new(Tier::Supervised, Source::Variable("STAYEXEC_TIER")));
    assert_eq!(files.load(&flag, &variable)?.tier, Sourced::new(Tier::ReadOnly, Source::Flag("--tier")));
    assert!(files.load(&none, &[("STAYEXEC_TIER", "all")]).is_err_and(|e| e.starts_with("STAYEXEC_TIER: `all`")));
    Ok(())
}

#[test]
fn a_workspace_file_tightens_and_never_loosens() -> Result<(), String> {
    assert_eq!(plain("", "tier = \"readonly\"", "tier = \"full\"")?.tier.value, Tier::ReadOnly);
    for (workspace, key) in [
        ("\ntier = \"full\"", "tier"),
        ("\norigin = \"background\"", "origin"),
        ("\ndeadline = \"11m\"", "deadline"),
        ("\nrequire = \"preload\"", "require"),
        ("\n[matrix.full]\nnetwork = \"allow\"", "matrix.full.network"),
        ("\n[matrix.readonly]\nwrite = \"prompt\"", "matrix.readonly.write"),
        ("\n[trust]\ndirs = [\"/opt\"]", "trust.dirs"),
        ("\n[[rule]]\nmatch = [\"rm\"]\ndecision = \"allow\"", "allow"),
    ] {
        let error = refusal("", workspace, "");
        assert!(error.contains(".stayexec.toml:") && error.contains(key) && !error.contains('\n'), "{workspace}: {error}");
    }
    let strict = plain("", "deadline = \"1m\"\n[classify]\nshell = \"strict\"\nunknown = \"destructive\"", "")?;
    assert_eq!((strict.shell.value, strict.unknown.value), (Shell::Strict, Unknown::Destructive));
    assert!(refusal("", "[classify]\nshell = \"normal\"", "[classify]\nshell = \"strict\"").contains("classify.shell"));
    Ok(())
}

#[test]
fn the_managed_file_is_a_ceiling() -> Result<(), String> {
    let files = Files::new("tier = \"supervised\"\norigin = \"unattended\"", "", "tier = \"full\"").map_err(|e| e.to_string())?;
    let none = Overrides::default();
    assert_eq!(place(&files.load(&none, &[])?.tier.source), "managed.toml:1");
    assert_eq!(files.load(&none, &[])?.origin.value, Origin::Unattended);
    assert_eq!(files.load(&Overrides { tier: Some(Tier::ReadOnly), ..none.clone() }, &[])?.tier.value, Tier::ReadOnly);
    let loose = files.load(&Overrides { tier: Some(Tier::Full), ..none.clone() }, &[]);
    assert!(loose.is_err_and(|e| e.starts_with("--tier: tier = \"full\" is looser than \"supervised\"")));
    assert!(files.load(&none, &[("STAYEXEC_ORIGIN", "background")]).is_err());
    let settings = plain("[trust]\ndirs = [\"/opt/a\"]", "", "[trust]\ndirs = [\"/opt/b\"]")?;
    assert_eq!(settings.trust_dirs.iter().map(|dir| dir.value.as_path()).collect::<Vec<_>>(), [Path::new("/opt/a")]);
    Ok(())
}

#[test]
fn only_the_three_upper_cells_of_full_can_be_loosened_and_only_by_user_or_managed() -> Result<(), String> {
    let cell = |settings: &Settings, tier, class| {
        settings.matrix.iter().find(|(t, c, _)| (*t, *c) == (tier, class)).map(|(_, _, cell)| cell.value)
    };
    let settings = plain("", "", "[matrix.full]\nnetwork = \"allow\"\n[matrix.supervised]\ndestructive = \"block\"")?;
    assert_eq!(cell(&settings, Tier::Full, CommandClass::Network), Some(GateDecision::Allow));
    assert_eq!(cell(&settings, Tier::Supervised, CommandClass::Destructive), Some(GateDecision::Block));
    assert!(refusal("", "", "\n[matrix.supervised]\nwrite = \"allow\"").contains("config.toml:3: [matrix.supervised] write"));
    let capped = plain("[matrix.full]\nnetwork = \"block\"", "", "[matrix.full]\nnetwork = \"allow\"")?;
    assert_eq!(cell(&capped, Tier::Full, CommandClass::Network), Some(GateDecision::Block));
    Ok(())
}

#[test]
fn lists_of_all_layers_hold_together_and_programs_only_rise() -> Result<(), String> {
    let settings = plain(
        "[forbidden]\npaths = [\"/a\"]\n[program.npm]\nrisk_level = \"high\"",
        "[forbidden]\npaths = [\"~/b\"]\n[program.npm]\nrequire_approval_for_medium_risk = false\nrisk_level = \"medium\"",
        "[forbidden]\ncommands = [\"docker push\"]\n[program.npm]\nrequire_approval_for_medium_risk = true",
    )?;
    assert_eq!(settings.forbidden_paths.len(), 2);
    assert!(settings.forbidden_paths[1].value.ends_with("home/b"));
    assert_eq!(settings.forbidden_commands.len(), 1);
    let npm = settings.programs["npm"].value;
    assert!(npm.require_approval_for_medium_risk);
    assert_eq!(npm.risk_level, Some(crate::config::RiskLevel::High));
    for text in [
        "[forbidden]\npaths = [\"b\"]",
        "[forbidden]\npaths = [\"/a/../b\"]",
        "[forbidden]\ncommands = [\" \"]",
        "[[rule]]\nmatch = []\ndecision = \"block\"",
    ] {
        assert!(refusal("", "", text).contains("config.toml:"), "{text}");
    }
    Ok(())
}

#[test]
fn a_preset_is_weaker_than_an_option() -> Result<(), String> {
    let files = Files::new("", "", "").map_err(|e| e.to_string())?;
    let ci = Overrides { preset: Some(Preset::Ci), ..Overrides::default() };
    assert_eq!(files.load(&ci, &[("STAYEXEC_ORIGIN", "background")])?.origin, Sourced::new(Origin::Unattended, Source::Preset("ci")));
    let both = Overrides { origin: Some(Origin::Interactive), ..ci };
    assert_eq!(files.load(&both, &[])?.origin.value, Origin::Interactive);
    Ok(())
}

#[test]
fn an_unreadable_or_foreign_file_is_an_error() {
    assert!(refusal("x = 1", "", "").contains("managed.toml:1: unknown field `x`"));
    assert!(refusal("", "[http]\nlisten = \"127.0.0.1:8000\"", "").contains(".stayexec.toml:1: http loosens"));
}
