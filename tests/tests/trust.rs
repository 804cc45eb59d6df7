//! A name is believed of a program that was there before the run, and not of one that came or was changed meanwhile.

use anyhow::{Context, Result};
use nix::unistd::{Uid, chown, geteuid};
use stayexec_tests::{Input, Launch, Outcome, Running, Scene, install, let_the_clock_tick};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder of the scene's user with a program called `rg`, neither in the workspace nor among temporary files.
struct Tools(TempDir);

impl Tools {
    fn new(scene: &Scene) -> Result<Self> {
        let parent = if geteuid().is_root() { PathBuf::from("/opt") } else { std::env::var_os("HOME").context("no home")?.into() };
        let dir = tempfile::Builder::new().prefix("stayexec-tools-").tempdir_in(parent)?;
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let tools = Self(dir);
        tools.give(scene, tools.0.path())?;
        tools.put(scene, "true")?;
        Ok(tools)
    }

    fn give(&self, scene: &Scene, path: &Path) -> Result<()> {
        if let Some(id) = scene.switch() {
            chown(path, Some(Uid::from_raw(id)), Some(id.into()))?;
        }
        Ok(())
    }

    /// Makes `rg` a copy of another program, as an installer does: a new file in the place of the old one.
    fn put(&self, scene: &Scene, program: &str) -> Result<()> {
        let new = self.0.path().join("new");
        install(&Path::new("/usr/bin").join(program), &new)?;
        self.give(scene, &new)?;
        fs::rename(new, self.rg())?;
        let_the_clock_tick(&self.rg())
    }

    fn rg(&self) -> PathBuf {
        self.0.path().join("rg")
    }

    fn path(&self) -> String {
        format!("{}:/usr/local/bin:/usr/bin:/bin", self.0.path().display())
    }
}

/// Starts `rg`, and once more when a line was typed.
fn twice<'s>(launch: Launch<'s>, rg: &Path) -> Result<Running<'s>> {
    let text = format!("{0} x; echo first $?; read -r; {0} x; echo second $?", rg.display());
    let launch = launch.words(["--tier", "supervised", "--origin", "unattended"]).unconfined().input(Input::Open);
    launch.command(["bash", "-c", &text]).start()
}

/// `change` happens between the two starts.
fn around(scene: &Scene, launch: Launch<'_>, rg: &Path, change: impl FnOnce() -> Result<()>) -> Result<Outcome> {
    let mut running = twice(launch, rg)?;
    running.says("first 0").with_context(|| format!("{scene:?} {}", running.err()))?;
    change()?;
    running.press()?;
    running.finish()
}

fn why(scene: &Scene) -> Result<String> {
    let last = scene.history()?.pop().context("something was judged")?;
    Ok(last.row.to_string())
}

#[test]
fn what_was_in_path_before_the_run_is_believed_until_it_is_replaced() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let tools = Tools::new(&scene)?;
        let run = || scene.run().env("PATH", tools.path());
        around(&scene, run(), Path::new("rg"), || Ok(()))?.expect_line("second 0");
        around(&scene, run(), Path::new("rg"), || tools.put(&scene, "false"))?.expect_line("second 126");
        assert!(why(&scene)?.contains("rg"), "{}", why(&scene)?);
        // For the next run it was there before.
        let mut again = twice(run(), Path::new("rg"))?;
        again.says("first 1")?;
        again.press()?;
        again.finish()?.expect_line("second 1");
    }
    Ok(())
}

#[test]
fn what_is_in_a_trusted_folder_is_believed_until_it_is_written() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let tools = Tools::new(&scene)?;
        let rg = tools.rg();
        let outcome = scene
            .run()
            .tier("supervised")
            .origin("unattended")
            .unconfined()
            .command(["bash", "-c", &format!("{} x; echo status $?", rg.display())])
            .finish()?;
        // What belongs to root alone is believed in any folder.
        outcome.expect_line(if scene.is_root() { "status 0" } else { "status 126" });
        scene.configure(&format!("[trust]\ndirs = [\"{}\"]\n", tools.0.path().display()))?;
        around(&scene, scene.run(), &rg, || Ok(()))?.expect_line("second 0");
        // The same bytes, and the times that can be set are set back: the kernel's own note of the change stays.
        let rewritten = || -> Result<()> {
            let times = fs::metadata(&rg)?.modified()?;
            let bytes = fs::read(&rg)?;
            fs::write(&rg, bytes)?;
            Ok(fs::File::options().append(true).open(&rg)?.set_modified(times)?)
        };
        around(&scene, scene.run(), &rg, rewritten)?.expect_line("second 126");
    }
    Ok(())
}

/// Starts a text that waits for a line; by then `rg` has come.
fn arriving<'s>(scene: &'s Scene, tools: &Tools, text: &str) -> Result<Running<'s>> {
    fs::remove_file(tools.rg())?;
    let launch = scene.run().env("PATH", tools.path()).tier("supervised").unconfined().input(Input::Open);
    let mut running = launch.command(["bash", "-c", text]).start()?;
    scene.warden()?;
    tools.put(scene, "true")?;
    running.press()?;
    Ok(running)
}

#[test]
fn a_program_that_came_during_the_run_is_asked_about() -> Result<()> {
    let scene = Scene::new()?;
    let tools = Tools::new(&scene)?;
    let running = arriving(&scene, &tools, "read -r; rg x; echo status $?")?;
    let question = scene.asked_once()?;
    assert_eq!((question.class.as_str(), question.argv.join(" ").as_str()), ("write", "rg x"));
    assert!(question.row["reasons"].to_string().contains("was changed during the run"), "{}", question.row);
    scene.answer(&question, &["deny"])?.expect_code(0);
    running.finish()?.expect_line("status 126");
    Ok(())
}

/// `pkill` is a link to `pgrep`, and the file alone says nothing about which of them runs.
#[test]
fn a_link_says_which_program_a_file_is() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let tools = Tools::new(&scene)?;
        // A harmless program under these names.
        fs::rename(tools.rg(), tools.0.path().join("pgrep"))?;
        std::os::unix::fs::symlink("pgrep", tools.0.path().join("pkill"))?;
        let_the_clock_tick(&tools.0.path().join("pgrep"))?;
        let text = "pgrep x; echo asks $?; pkill x; echo kills $?; exec -a pkill pgrep x";
        let launch = scene.run().env("PATH", tools.path()).words(["--tier", "supervised", "--origin", "unattended"]).unconfined();
        let outcome = launch.command(["bash", "-c", text]).finish()?;
        outcome.expect_line("asks 0");
        outcome.expect_line("kills 126");
        assert!(why(&scene)?.contains("pkill"), "{}", why(&scene)?);
    }
    Ok(())
}

/// What an approved install has put there is asked about once: then a person may believe it, as it is.
#[test]
fn a_person_may_believe_a_program_that_came_during_the_run() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let tools = Tools::new(&scene)?;
        let text = "read -r; rg a; echo first $?; rg b; echo second $?; rg --pre ./x c; echo runs $?; read -r; rg d; echo third $?";
        let mut running = arriving(&scene, &tools, text)?;
        let question = scene.asked_once()?;
        let believed = format!("`{}` as it is now is then believed to be what it is called", tools.rg().display());
        assert!(question.row["always_rule"].to_string().contains(&believed), "{}", question.row);
        scene.answer(&question, &["approve", "--run"])?.expect_code(0);
        running.says("second 0")?;
        // Its name makes it no better than that name is.
        let question = scene.asked_once()?;
        assert_eq!(question.argv.join(" "), "rg --pre ./x c");
        scene.answer(&question, &["deny"])?.expect_code(0);
        running.says("runs 126")?;
        tools.put(&scene, "true")?;
        running.press()?;
        let question = scene.asked_once()?;
        assert!(question.row["reasons"].to_string().contains("was changed during the run"), "{}", question.row);
        scene.answer(&question, &["deny"])?.expect_code(0);
        running.finish()?.expect_line("third 126");
    }
    Ok(())
}
