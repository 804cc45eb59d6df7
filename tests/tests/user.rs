//! `run --user NAME`: the agent is another user, and what is the gate's own is out of its reach.

use anyhow::Result;
use nix::unistd::geteuid;
use stayexec_tests::{Scene, cannot_run};
use std::os::unix::fs::PermissionsExt;

/// A scene of root's whose work folder everybody may enter; nothing where the tests are not root's.
fn scene() -> Result<Option<Scene>> {
    if !geteuid().is_root() {
        cannot_run("only root can run a command as another user");
        return Ok(None);
    }
    let scene = Scene::new()?;
    std::fs::set_permissions(scene.work(), std::fs::Permissions::from_mode(0o777))?;
    Ok(Some(scene))
}

#[test]
fn the_agent_is_that_user_in_every_respect() -> Result<()> {
    let Some(scene) = scene()? else { return Ok(()) };
    for require in ["verify", "seccomp", "preload"] {
        let text = "id -u; id -g; id -G; echo $HOME $USER $LOGNAME; echo ${XDG_STATE_HOME-none} ${XDG_RUNTIME_DIR-none}; touch by-$1; echo status $?";
        let run = scene.run().tier("full").origin("unattended").unconfined().words(["--user", "nobody", "--require", require]);
        let outcome = run.command(["bash", "-c", text, "bash", require]).finish()?;
        outcome.expect_code(0);
        let lines: Vec<String> = outcome.out().lines().map(str::to_owned).collect();
        let home = nix::unistd::User::from_name("nobody")?.map(|user| user.dir.display().to_string()).unwrap_or_default();
        let named = format!("{home} nobody nobody");
        assert_eq!(lines, ["65534", "65534", "65534", named.as_str(), "none none", "status 0"], "{}", outcome.told());
        let made = std::fs::metadata(scene.work().join(format!("by-{require}")))?;
        assert_eq!(std::os::unix::fs::MetadataExt::uid(&made), 65534);
    }
    Ok(())
}

#[test]
fn what_is_the_gates_own_cannot_even_be_read() -> Result<()> {
    let Some(scene) = scene()? else { return Ok(()) };
    // A launched program is not judged by its class: the files alone refuse it.
    let text = "import os\n\
        for name in open('list').read().split():\n    \
            for what in (os.listdir, lambda n: open(n + '/x', 'w'), lambda n: os.chmod(n, 0o777)):\n        \
                try:\n            what(name); print('REACHED', name)\n        \
                except OSError as e:\n            print(e.errno)\n\
        ask = [e for e in open('/proc/self/environ').read().split('\\0') if e.startswith('STAYEXEC_ASK=')][0][13:]\n\
        library = os.path.dirname(ask) + '/libstayexec_preload.so'\n\
        print('library', os.access(library, os.R_OK), os.access(library, os.W_OK), os.access(os.path.dirname(library), os.W_OK))\n";
    scene.file("agent.py", text)?;
    let folders = ["state/stayexec", "run/stayexec", "data/stayexec"].map(|name| scene.path(name).display().to_string());
    // As an operand of the command line each is forbidden anyway.
    scene.file("list", folders.join("\n"))?;
    let run = scene.run().tier("full").origin("unattended").unconfined().words(["--user", "nobody"]);
    let outcome = run.command(["/usr/bin/python3", "agent.py"]).finish()?;
    outcome.expect_code(0).expect_line("library True False False");
    assert!(!outcome.out().contains("REACHED"), "{}", outcome.told());
    Ok(())
}

#[test]
fn it_is_judged_and_asked_about_as_any_other() -> Result<()> {
    let Some(scene) = scene()? else { return Ok(()) };
    let run = scene.run().tier("supervised").unconfined().words(["--user", "nobody"]);
    let running = run.command(["bash", "-c", "touch made; echo status $?"]).start()?;
    let question = scene.asked_once()?;
    scene.answer(&question, &["approve"])?.expect_code(0);
    running.finish()?.expect_code(0).expect_line("status 0");
    scene.mark("made").expect_made();
    // Its own temporary folder is its own, where the run is confined.
    let run = scene.run().tier("full").origin("unattended").words(["--user", "nobody", "--confine"]);
    let outcome = run.command(["bash", "-c", ": >$TMPDIR/x && echo written; ls -d $TMPDIR"]).finish()?;
    outcome.expect_line("written");
    Ok(())
}

#[test]
fn names_that_cannot_be_are_refused() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let names = if scene.is_root() { &["root", "no-such-user"][..] } else { &["root", "nobody", "no-such-user"] };
        for name in names {
            let outcome = scene.run().words(["--user", name]).command(["touch", "made"]).finish()?;
            outcome.expect_code(2);
            outcome.expect_one_line();
            scene.mark("made").expect_none();
        }
    }
    Ok(())
}
