//! Searching a program along PATH: what is not there is no question, and what is there twice is asked about once.

use anyhow::Result;
use stayexec_tests::{Input, Scene};

/// Ten folders without it, and the one that has it by two names.
fn path(scene: &Scene) -> Result<String> {
    let work = scene.work().display().to_string();
    for i in 0..10 {
        scene.file(&format!("empty-{i}/kept"), "")?;
    }
    scene.file("real/kept", "")?;
    std::os::unix::fs::symlink("real", scene.work().join("again"))?;
    let folders = (0..10).map(|i| format!("{work}/empty-{i}")).chain([format!("{work}/real"), format!("{work}/again")]);
    Ok(folders.chain(["/usr/bin".to_owned(), "/bin".to_owned()]).collect::<Vec<_>>().join(":"))
}

#[test]
fn misses_are_neither_asked_about_nor_recorded() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let path = path(&scene)?;
        let text = "import subprocess\nfor name in ['true', 'none']:\n    \
            try: print('status', subprocess.call([name, 'x']))\n    except OSError as e: print('errno', e.errno)\n";
        scene.file("agent.py", text)?;
        let run = scene.run().env("PATH", &path).tier("supervised").origin("unattended").unconfined();
        let outcome = run.command(["/usr/bin/python3", "agent.py"]).finish()?;
        outcome.expect_line("status 0").expect_line("errno 2").expect_quiet();
        let history: Vec<String> = scene.history()?.into_iter().map(|e| e.argv.join(" ")).collect();
        assert_eq!(history, ["/usr/bin/python3 agent.py", "true x"]);
    }
    Ok(())
}

#[test]
fn a_program_that_is_there_twice_is_asked_about_once() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let path = path(&scene)?;
        for (kind, content) in [("script", "#!/bin/sh\ntouch made\n"), ("text", "touch made\n")] {
            scene.program(&format!("real/{kind}"), content)?;
            for shell in ["dash", "bash"] {
                let run = scene.run().env("PATH", &path).tier("supervised").unconfined().input(Input::Null);
                let running = run.command([shell, "-c", &format!("{kind} x; echo status $?")]).start()?;
                let question = scene.asked_once()?;
                scene.answer(&question, &["deny"])?.expect_code(0);
                running.says("status")?;
                let outcome = running.finish()?;
                assert!(!outcome.out().contains("status 0"), "{}", outcome.told());
                assert_eq!(outcome.denials().len(), 1, "{shell} {kind}: {}", outcome.told());
                assert!(scene.pending()?.is_empty());
            }
        }
        scene.mark("made").expect_none();
    }
    Ok(())
}
