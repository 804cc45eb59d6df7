//! The same removal by the programs that agents start programs with: none gets past the gate.

use anyhow::Result;
use stayexec_tests::{Input, Outcome, Scene, cannot_run};
use std::path::Path;

/// What is done to the victim, and what is done instead where the tier allows it.
const DEEDS: [&str; 2] = ["rm -rf victim", "touch made"];

/// Tries `refused` in the readonly tier and `allowed` in the full one, as each user.
fn vector(prepare: impl Fn(&Scene) -> Result<()>, refused: &[&str], allowed: &[&str]) -> Result<()> {
    for scene in Scene::of_each_user()? {
        prepare(&scene)?;
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let outcome = scene.readonly(refused)?;
        victim.expect_alive();
        expect_denied(&outcome);
        scene.full(allowed)?.expect_code(0);
        made.expect_made();
    }
    Ok(())
}

#[track_caller]
fn expect_denied(outcome: &Outcome) {
    assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
    assert!(outcome.out().contains("126") || outcome.code() != 0, "{}", outcome.told());
}

/// [`vector`] for a text in which `DEED` stands for what is done.
fn text_vector(program: &[&str], text: &str) -> Result<()> {
    let [refused, allowed] = DEEDS.map(|deed| text.replace("DEED", deed));
    let with = |text| program.iter().copied().chain([text]).collect::<Vec<_>>();
    vector(|_| Ok(()), &with(refused.as_str()), &with(allowed.as_str()))
}

#[test]
fn bash() -> Result<()> {
    text_vector(&["bash", "-c"], "DEED; exit $?")
}

#[test]
fn dash() -> Result<()> {
    text_vector(&["sh", "-c"], "DEED; exit $?")
}

#[test]
fn env_i() -> Result<()> {
    text_vector(&["bash", "-c"], "env -i DEED; exit $?")?;
    vector(|_| Ok(()), &["env", "-i", "/bin/rm", "-rf", "victim"], &["env", "-i", "/usr/bin/touch", "made"])
}

#[test]
fn the_dynamic_linker_as_a_program() -> Result<()> {
    if !Path::new("/lib64/ld-linux-x86-64.so.2").exists() {
        cannot_run("no x86-64 dynamic linker");
        return Ok(());
    }
    text_vector(&["bash", "-c"], "/lib64/ld-linux-x86-64.so.2 /bin/DEED; exit $?")?;
    text_vector(&["bash", "-c"], "/lib64/ld-linux-x86-64.so.2 --argv0 ls /bin/DEED; exit $?")
}

#[test]
fn python_subprocess() -> Result<()> {
    text_vector(&["/usr/bin/python3", "-c"], "import subprocess, sys; sys.exit(subprocess.call('DEED'.split()))")
}

#[test]
fn python_execve() -> Result<()> {
    text_vector(&["/usr/bin/python3", "-c"], "import os; a = 'DEED'.split(); os.execve('/bin/' + a[0], a, {})")
}

#[test]
fn node_spawn() -> Result<()> {
    let text =
        "const [c, ...a] = 'DEED'.split(' '); require('child_process').spawn(c, a, {stdio: 'inherit'}).on('exit', s => process.exit(s))";
    text_vector(&["node", "-e"], text)
}

#[test]
fn perl() -> Result<()> {
    text_vector(&["perl", "-e"], "exit(system(qw(DEED)) >> 8)")
}

#[test]
fn make() -> Result<()> {
    for (deed, name) in DEEDS.iter().zip(["refused", "allowed"]) {
        let makefile = format!("all:\n\t@{deed}\n");
        let prepare = |scene: &Scene| scene.file(&format!("{name}.mk"), &makefile).map(drop);
        let scene = Scene::new()?;
        prepare(&scene)?;
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        if name == "refused" {
            expect_denied(scene.readonly(["make", "-f", "refused.mk"])?.expect_code(2));
            victim.expect_alive();
        } else {
            scene.full(["make", "-f", "allowed.mk"])?.expect_code(0);
            made.expect_made();
        }
    }
    Ok(())
}

#[test]
fn xargs() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let gated = |tier: &str| scene.run().tier(tier).origin("unattended").unconfined();
        let refused = gated("readonly").command(["xargs", "rm", "-rf"]).input(Input::Text(b"victim\n".to_vec())).finish()?;
        expect_denied(&refused);
        victim.expect_alive();
        gated("full").command(["xargs", "touch"]).input(Input::Text(b"made\n".to_vec())).finish()?.expect_code(0);
        made.expect_made();
    }
    Ok(())
}

#[test]
fn find_exec() -> Result<()> {
    let refused = ["find", ".", "-name", "victim", "-exec", "rm", "-rf", "{}", "+"];
    let allowed = ["find", ".", "-maxdepth", "0", "-exec", "touch", "made", ";"];
    vector(|_| Ok(()), &refused, &allowed)?;
    text_vector(&["bash", "-c"], "find . -maxdepth 0 -exec DEED ';'; exit $(test -e made || echo 1)")
}

#[test]
fn a_text_without_an_interpreter_line() -> Result<()> {
    let prepare = |scene: &Scene| {
        scene.program("refused", "rm -rf victim; exit $?\n")?;
        scene.program("allowed", "touch made\n").map(drop)
    };
    vector(prepare, &["bash", "-c", "./refused; exit $?"], &["bash", "-c", "./allowed; exit $?"])?;
    for scene in Scene::of_each_user()? {
        prepare(&scene)?;
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let launch = scene.fixture("launch")?;
        let refused = scene.readonly([launch.as_str(), "execvp", "./refused"])?;
        assert!(!refused.out().contains("status 0"), "{}", refused.told());
        victim.expect_alive();
        scene.full([launch.as_str(), "execvp", "./allowed"])?.expect_line("status 0");
        made.expect_made();
    }
    Ok(())
}

#[test]
fn a_script_with_an_interpreter_line() -> Result<()> {
    let prepare = |scene: &Scene| {
        scene.program("refused", "#!/bin/sh\nrm -rf victim; exit $?\n")?;
        scene.program("allowed", "#!/bin/sh\ntouch made\n").map(drop)
    };
    vector(prepare, &["bash", "-c", "./refused; exit $?"], &["bash", "-c", "./allowed; exit $?"])
}

#[test]
fn a_copy_of_rm_named_ls() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        scene.copy(Path::new("/bin/rm"), "ls")?;
        expect_denied(&scene.readonly(["bash", "-c", "./ls -rf victim; exit $?"])?);
        expect_denied(&scene.readonly(["bash", "-c", "PATH=$PWD:$PATH; ls -rf victim; exit $?"])?);
        victim.expect_alive();
        std::fs::remove_file(scene.work().join("ls"))?;
        scene.copy(Path::new("/usr/bin/touch"), "ls")?;
        scene.full(["bash", "-c", "./ls made; exit $?"])?.expect_code(0);
        made.expect_made();
    }
    Ok(())
}

#[test]
fn a_link_to_rm_named_ls() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let victim = scene.victim("victim")?;
        std::os::unix::fs::symlink("/bin/rm", scene.work().join("ls"))?;
        let outcome = scene.readonly(["bash", "-c", "./ls -rf victim; exit $?"])?;
        expect_denied(&outcome);
        assert!(outcome.err().contains("denied (destructive)"), "{}", outcome.told());
        victim.expect_alive();
    }
    Ok(())
}

#[test]
fn another_argv_0() -> Result<()> {
    text_vector(&["bash", "-c"], "(exec -a ls DEED); exit $?")?;
    let scene = Scene::new()?;
    let victim = scene.victim("victim")?;
    let outcome = scene.readonly(["bash", "-c", "exec -a ls rm -rf victim"])?;
    expect_denied(outcome.expect_code(126));
    assert!(outcome.err().contains("denied (destructive)"), "{}", outcome.told());
    victim.expect_alive();
    Ok(())
}

#[test]
fn a_wrapper_of_a_wrapper() -> Result<()> {
    text_vector(&["bash", "-c"], "nice timeout 20 env A=b nohup sh -c 'DEED'; exit $?")?;
    text_vector(&["setsid", "--wait", "nice", "sh", "-c"], "DEED; exit $?")
}
