//! Environment that loads code, and programs that are not what their name says, make a reading command more than that.

use anyhow::Result;
use stayexec_tests::Scene;

/// In the readonly tier `text` ends refused and leaves no mark; ungated it makes one.
fn refused(scene: &Scene, text: &str) -> Result<()> {
    let mark = scene.mark("mark");
    let outcome = scene.readonly(["bash", "-c", &format!("export MARK=$PWD/mark; {text}; echo status $?")])?;
    mark.expect_none();
    outcome.expect_line("status 126");
    scene.ungated(["bash", "-c", &format!("export MARK=$PWD/mark; {text}")])?;
    mark.expect_made();
    Ok(std::fs::remove_file(scene.work().join("mark"))?)
}

#[test]
fn libraries_that_are_loaded_before_others() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.fixture("loaded.so")?;
        refused(&scene, "LD_PRELOAD=$PWD/loaded.so ls >/dev/null")?;
        refused(&scene, "LD_AUDIT=$PWD/loaded.so ls >/dev/null")?;
        refused(&scene, "env LD_PRELOAD=$PWD/loaded.so ls >/dev/null")?;
        refused(&scene, "/lib64/ld-linux-x86-64.so.2 --preload $PWD/loaded.so /bin/ls >/dev/null")?;
    }
    Ok(())
}

#[test]
fn libraries_from_elsewhere() -> Result<()> {
    let scene = Scene::new()?;
    scene.fixture("loaded.so")?;
    // A library of the name that ls needs, in a folder of the workspace.
    std::fs::create_dir(scene.work().join("lib"))?;
    std::fs::copy(scene.work().join("loaded.so"), scene.work().join("lib/libselinux.so.1"))?;
    refused(&scene, "LD_LIBRARY_PATH=$PWD/lib ls >/dev/null 2>&1")
}

#[test]
fn options_of_interpreters() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("code.js", "require('fs').writeFileSync(process.env.MARK, '')\n")?;
        scene.file("code.sh", "touch $MARK\n")?;
        scene.file("Code.pm", "package Code; open my $f, '>', $ENV{MARK}; 1;\n")?;
        scene.file("sitecustomize.py", "import os\nopen(os.environ['MARK'], 'w').close()\n")?;
        refused(&scene, "NODE_OPTIONS=--require=$PWD/code.js node -p 1 >/dev/null")?;
        refused(&scene, "BASH_ENV=$PWD/code.sh bash -c true")?;
        refused(&scene, "PERL5OPT=-I$PWD\\ -MCode perl -e 1")?;
        refused(&scene, "PYTHONPATH=$PWD /usr/bin/python3 -c pass")?;
    }
    Ok(())
}

#[test]
fn commands_in_variables() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.program("evil", "#!/bin/sh\ntouch $MARK\n")?;
        scene.ungated(["git", "init", "--quiet", "."])?.expect_code(0);
        refused(&scene, "GIT_EXTERNAL_DIFF=$PWD/evil git diff --no-index /etc/hostname /etc/passwd >/dev/null")?;
        let outcome = scene.readonly(["bash", "-c", "PAGER=cat git status >/dev/null; echo status $?"])?;
        outcome.expect_line("status 0");
    }
    Ok(())
}

#[test]
fn the_baseline_of_the_run_is_no_news() -> Result<()> {
    let scene = Scene::new()?;
    scene.file("empty.sh", "")?;
    let run = scene.run().tier("readonly").origin("unattended").unconfined().env("BASH_ENV", scene.work().join("empty.sh"));
    run.command(["/usr/bin/env", "ls", "/"]).finish()?.expect_code(0);
    Ok(())
}
