//! podman, as Debian has it: the gate inside one of its containers, and one of its containers inside the gate.

use anyhow::Result;
use stayexec_tests::{Outcome, Scene, podman_words, podman_works};

/// `stayexec` with `words` in a container of podman's.
fn inside(scene: &Scene, words: &[&str]) -> Result<Outcome> {
    let stayexec = scene.binary().display().to_string();
    scene.ungated_launch(podman_words(scene, &[&[stayexec.as_str()], words].concat())?).finish()
}

#[test]
fn the_floor_holds_in_a_container_of_podmans() -> Result<()> {
    let scene = Scene::new()?;
    if !podman_works(&scene) {
        return Ok(());
    }
    let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
    let run = |tier: &str, text: &str| inside(&scene, &["run", "--tier", tier, "--origin", "unattended", "--", "bash", "-c", text]);
    // Its own capabilities and its own profile, not ours.
    let text = "grep -E '^(CapEff|Seccomp):' /proc/self/status; rm -rf victim; echo status $?; : >made; echo wrote $?";
    let refused = run("readonly", text)?;
    victim.expect_alive();
    made.expect_none();
    refused
        .expect_code(0)
        .expect_line("CapEff:\t00000000800405fb")
        .expect_line("Seccomp:\t2")
        .expect_line("status 126")
        .expect_line("wrote 1");
    assert_eq!(refused.denials().len(), 1, "{}", refused.told());
    run("full", "touch made; echo status $?")?.expect_code(0).expect_line("status 0").expect_quiet();
    made.expect_made();
    let doctor = inside(&scene, &["doctor", "--json"])?;
    assert!(doctor.out().contains("\"verify\""), "{}", doctor.told());
    doctor.expect_code(0);
    Ok(())
}

#[test]
fn a_container_that_podman_makes_in_the_tree_is_judged_too() -> Result<()> {
    let scene = Scene::new()?;
    if !podman_works(&scene) {
        return Ok(());
    }
    scene.configure("[[rule]]\nmatch = [\"rm\", \"-rf\"]\ndecision = \"block\"\n")?;
    let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
    let started = |command: &[&str]| {
        let words = podman_words(&scene, command)?;
        scene.run().tier("full").origin("background").unconfined().command(words).finish()
    };
    // In a script, so that its name is in no argument vector of podman's.
    scene.file("work.sh", "rm -rf victim\n")?;
    let refused = started(&["sh", "work.sh"])?;
    refused.expect_code(126);
    assert_eq!(refused.denials().len(), 1, "{}", refused.told());
    victim.expect_alive();
    started(&["touch", "made"])?.expect_code(0);
    made.expect_made();
    Ok(())
}
