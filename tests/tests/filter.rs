//! The calls that the filter answers by itself, on the real kernel.

use anyhow::Result;
use stayexec_tests::{Outcome, Scene, cannot_run};

const EPERM: i64 = 1;
const ENOSYS: i64 = 38;

fn calls(scene: &Scene, gated: bool) -> Result<Outcome> {
    let (calls, own) = (scene.fixture("calls")?, std::process::id().to_string());
    let outcome = if gated { scene.full([calls.as_str(), &own])? } else { scene.ungated([calls.as_str(), &own])? };
    outcome.expect_code(0);
    Ok(outcome)
}

#[test]
#[cfg(target_arch = "x86_64")]
fn x32_is_not_there() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let outcome = calls(&scene, true)?;
        for name in ["x32-execve", "x32-execveat", "x32-64-bit-number", "x32-getpid"] {
            assert_eq!(outcome.number(name), ENOSYS, "{name}: {}", outcome.told());
        }
    }
    Ok(())
}

#[test]
fn what_reaches_into_other_processes_and_terminals_is_refused() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let outcome = calls(&scene, true)?;
        for name in ["prlimit-foreign", "process_vm_writev", "TIOCSTI", "TIOCSTI-high-bits", "TIOCLINUX"] {
            assert_eq!(outcome.number(name), EPERM, "{name}: {}", outcome.told());
        }
        for name in ["getrlimit-own", "TIOCGWINSZ"] {
            assert_eq!(outcome.number(name), 0, "{name}: {}", outcome.told());
        }
    }
    Ok(())
}

#[test]
fn the_clock_is_not_set_and_memory_is_not_served() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let names = ["settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "userfaultfd", "USERFAULTFD_IOC_NEW"];
        let (gated, ungated) = (calls(&scene, true)?, calls(&scene, false)?);
        for name in names {
            assert_eq!(gated.number(name), EPERM, "{name}: {}", gated.told());
        }
        // Without the gate it is the arguments that fail, where the user may make the call at all.
        for name in names.iter().take(if scene.is_root() { 5 } else { 0 }) {
            assert_ne!(ungated.number(name), EPERM, "{name}: {}", ungated.told());
        }
        assert_eq!(ungated.number("adjtimex"), 0, "reading harms nobody: {}", ungated.told());
    }
    Ok(())
}

#[test]
fn root_has_no_program_in_the_kernel_no_samples_of_others_and_no_say_in_their_opens() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (gated, ungated) = (calls(&scene, true)?, calls(&scene, false)?);
        for name in ["bpf", "perf-all", "perf-foreign", "fanotify-content"] {
            let errno = gated.number(name);
            // What an ordinary user may not do the kernel itself refuses; the tests' own process is another user's.
            assert!(errno == EPERM || (!scene.is_root() && errno != 0), "{name}: {}", gated.told());
            assert!(!scene.is_root() || ungated.number(name) != EPERM, "{name}: {}", ungated.told());
        }
        for name in ["perf-own", "fanotify"] {
            assert_eq!(gated.number(name), ungated.number(name), "{name}: {}", gated.told());
        }
    }
    Ok(())
}

#[test]
fn libraries_use_clone_and_no_flags_that_lie_in_memory() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let (gated, ungated) = (calls(&scene, true)?, calls(&scene, false)?);
        for name in ["clone", "clone-parent"] {
            assert_eq!((gated.number(name), ungated.number(name)), (0, 0), "{name}: {}", gated.told());
        }
        assert_eq!(gated.number("clone3"), ENOSYS, "{}", gated.told());
    }
    Ok(())
}

#[test]
fn a_check_starts_nothing_and_is_not_asked_about() -> Result<()> {
    let scene = Scene::new()?;
    if calls(&scene, false)?.number("check") != 0 {
        cannot_run("this kernel has no AT_EXECVE_CHECK (6.14)");
        return Ok(());
    }
    assert_eq!(calls(&scene, true)?.number("check"), 0);
    // The launched fixture alone; its check left no record.
    assert_eq!(scene.history()?.len(), 1, "{:#?}", scene.history()?);
    Ok(())
}
