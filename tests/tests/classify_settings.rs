//! `[classify]`: each setting asks about more, and about nothing less.

use anyhow::Result;
use stayexec_tests::Scene;

/// Class and status of `bash -c TEXT` below the launched shell, with nobody to ask.
fn started(scene: &Scene, text: &str) -> Result<(String, i32)> {
    let outer = format!("bash -c '{text}' >/dev/null; exit $?");
    let outcome = scene.run().tier("supervised").origin("unattended").unconfined().command(["bash", "-c", &outer]).finish()?;
    let class = scene.history()?.into_iter().rfind(|entry| entry.argv.len() == 3 && entry.argv[2] == text).map(|entry| entry.class);
    Ok((class.unwrap_or_default(), outcome.code()))
}

fn checked(scene: &Scene, text: &str) -> Result<String> {
    Ok(scene.stayexec().words(["check", text]).finish()?.out().split(' ').take(2).collect::<Vec<_>>().join(" "))
}

/// Texts that are Read without the setting: raised by it, and not.
fn raises(setting: &str, raised: &[&str], kept: &[&str]) -> Result<()> {
    let scene = Scene::new()?;
    scene.file("a.txt", "text")?;
    for text in raised.iter().chain(kept) {
        assert_eq!(started(&scene, text)?, ("read".into(), 0), "{text}");
        assert_eq!(checked(&scene, text)?, "read allow:", "{text}");
    }
    scene.configure(&format!("[classify]\n{setting}\n"))?;
    for text in raised {
        assert_eq!(started(&scene, text)?, ("write".into(), 126), "{text}");
        assert_eq!(checked(&scene, text)?, "write prompt:", "{text}");
    }
    for text in kept {
        assert_eq!(started(&scene, text)?, ("read".into(), 0), "{text}");
        assert_eq!(checked(&scene, text)?, "read allow:", "{text}");
    }
    Ok(())
}

#[test]
fn strict_asks_about_pipes_substitutions_and_expansions() -> Result<()> {
    raises("shell = \"strict\"", &["ls | wc -l", "echo $(ls)", "x=a; echo $x"], &["ls -l", "cat a.txt && ls"])
}

#[test]
fn workspace_only_asks_about_what_a_text_reads_elsewhere() -> Result<()> {
    let raised = ["cat /etc/passwd", "read -r x < /etc/passwd", "cat ../work/../../x || true", "cd / && ls"];
    raises("workspace_only = true", &raised, &["cat a.txt", "grep -c /etc/passwd a.txt || true", "ls 2>/dev/null | wc -l"])
}

#[test]
fn workspace_only_follows_links() -> Result<()> {
    let scene = Scene::new()?;
    std::os::unix::fs::symlink("/etc/passwd", scene.work().join("link"))?;
    scene.configure("[classify]\nworkspace_only = true\n")?;
    let run = |text| scene.run().tier("supervised").origin("unattended").unconfined().command(["bash", "-c", text]).finish();
    run("cat link; echo status $?")?.expect_line("status 126");
    assert_eq!(checked(&scene, "cat link")?, "write prompt:");
    Ok(())
}

#[test]
fn unknown_programs_can_count_as_the_worst() -> Result<()> {
    let scene = Scene::new()?;
    let program = scene.fixture("mark")?;
    let class = || -> Result<String> {
        scene.run().tier("full").origin("unattended").unconfined().command(["bash", "-c", &format!("{program} a; true")]).finish()?;
        Ok(scene.history()?.into_iter().rfind(|entry| entry.argv.first() == Some(&program)).map(|entry| entry.class).unwrap_or_default())
    };
    assert_eq!(class()?, "write");
    assert_eq!(checked(&scene, "frobnicate x")?, "write prompt:");
    scene.configure("[classify]\nunknown = \"destructive\"\n")?;
    assert_eq!(class()?, "destructive");
    assert_eq!(checked(&scene, "frobnicate x")?, "destructive prompt:");
    assert_eq!(checked(&scene, "ls")?, "read allow:");
    Ok(())
}
