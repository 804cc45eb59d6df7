//! The same removal, started in every way that a program has: none gets past the gate.
//!
//! Each vector is tried with a program that the tier refuses, and again with one that it allows: so none passes here because
//! the vector itself does not work.

use anyhow::Result;
use stayexec_tests::{Scene, Victim, cannot_run, i386_mark};

const RM: &str = "/usr/bin/rm";
const TOUCH: &str = "/usr/bin/touch";

/// Launches `launch MODE` and has it start rm (refused), then touch (allowed in the full tier).
fn vector(launch: &str, mode: &str) -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let program = scene.fixture(launch)?;
        let refused = scene.readonly([program.as_str(), mode, RM, "-rf", victim.text()])?;
        refused.expect_code(0).expect_line("status 126");
        assert_eq!(refused.denials().len(), 1, "{}", refused.told());
        victim.expect_alive();
        scene.full([program.as_str(), mode, TOUCH, made.text()])?.expect_code(0).expect_line("status 0").expect_quiet();
        made.expect_made();
    }
    Ok(())
}

#[test]
fn execve() -> Result<()> {
    vector("launch", "execve")
}

#[test]
fn execve_from_a_static_program() -> Result<()> {
    vector("launch-static", "execve")
}

#[test]
fn execve_from_a_static_position_independent_program() -> Result<()> {
    vector("launch-static-pie", "execve")
}

#[test]
fn execvp() -> Result<()> {
    vector("launch", "execvp")
}

#[test]
fn execve_without_an_environment() -> Result<()> {
    vector("launch", "noenv")
}

#[test]
fn the_raw_system_call() -> Result<()> {
    vector("launch", "raw")?;
    vector("launch-static", "raw")
}

#[test]
fn words_that_end_where_memory_ends() -> Result<()> {
    vector("launch", "edge")?;
    vector("launch-static", "edge")
}

#[test]
fn execveat() -> Result<()> {
    vector("launch", "execveat")
}

#[test]
fn fexecve() -> Result<()> {
    vector("launch", "fexecve")
}

#[test]
fn an_o_path_descriptor() -> Result<()> {
    vector("launch", "opath")
}

#[test]
fn a_descriptor_below_proc() -> Result<()> {
    vector("launch", "procfd")
}

#[test]
fn vfork() -> Result<()> {
    vector("launch", "vfork")?;
    vector("launch-static", "vfork")
}

#[test]
fn posix_spawn() -> Result<()> {
    vector("launch", "spawn")?;
    vector("launch-static", "spawn")
}

#[test]
fn a_thread_that_is_not_the_leader() -> Result<()> {
    vector("launch", "thread")?;
    vector("launch-static", "thread")
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_32_bit_system_call_of_a_64_bit_program() -> Result<()> {
    vector("launch", "int80")?;
    vector("launch-static", "int80")
}

#[test]
fn a_copy_in_memory() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let program = scene.fixture("launch")?;
        let refused = scene.readonly([program.as_str(), "memfd", RM, "-rf", victim.text()])?;
        refused.expect_line("status 126");
        victim.expect_alive();
        scene.full([program.as_str(), "memfd", TOUCH, made.text()])?.expect_line("status 0");
        made.expect_made();
    }
    Ok(())
}

#[test]
fn exec_in_place() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (victim, made) = (scene.victim("victim")?, scene.mark("made"));
        let program = scene.fixture("launch-static")?;
        scene.readonly([program.as_str(), "here", RM, "-rf", victim.text()])?.expect_code(126);
        victim.expect_alive();
        scene.full([program.as_str(), "here", TOUCH, made.text()])?.expect_code(0);
        made.expect_made();
    }
    Ok(())
}

/// A remover or a marker that no list of names knows.
fn unknown(program: &str) -> Result<()> {
    for scene in Scene::of_each_user()? {
        let made = scene.mark("made");
        let (launch, mark) = (scene.fixture("launch")?, scene.fixture(program)?);
        let refused = scene.readonly([launch.as_str(), "execve", &mark, made.text()])?;
        refused.expect_line("status 126");
        assert_eq!(refused.denials().len(), 1, "{}", refused.told());
        made.expect_none();
        scene.full([launch.as_str(), "execve", &mark, made.text()])?.expect_line("status 0");
        made.expect_made();
    }
    Ok(())
}

#[test]
fn an_unknown_static_program() -> Result<()> {
    unknown("mark")
}

#[test]
fn an_unknown_static_position_independent_program() -> Result<()> {
    unknown("mark-static-pie")
}

#[test]
fn an_unknown_dynamic_program() -> Result<()> {
    unknown("mark-dynamic")
}

#[test]
fn an_unknown_program_that_removes_a_tree() -> Result<()> {
    let scene = Scene::new()?;
    let victim: Victim = scene.victim("victim")?;
    let (launch, rmtree) = (scene.fixture("launch")?, scene.fixture("rmtree")?);
    scene.readonly([launch.as_str(), "execve", &rmtree, victim.text()])?.expect_line("status 126");
    victim.expect_alive();
    scene.ungated([launch.as_str(), "execve", &rmtree, victim.text()])?.expect_line("status 0");
    victim.expect_gone();
    Ok(())
}

#[test]
fn a_32_bit_program() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let made = scene.mark("made");
        let (launch, program) = (scene.fixture("launch")?, scene.program("program", i386_mark("made"))?);
        let program = program.to_str().unwrap_or_default().to_owned();
        if scene.ungated([program.as_str()]).is_err() {
            cannot_run("no 32-bit programs");
            continue;
        }
        std::fs::remove_file(scene.work().join("made"))?;
        let refused = scene.readonly([launch.as_str(), "execve", &program])?;
        refused.expect_line("status 126");
        assert_eq!(refused.denials().len(), 1, "{}", refused.told());
        made.expect_none();
        scene.full([launch.as_str(), "execve", &program])?.expect_line("status 0");
        made.expect_made();
    }
    Ok(())
}
