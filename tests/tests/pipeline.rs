//! A gated command in a pipeline: its streams, its status and its signals are its own.

use anyhow::Result;
use nix::sys::signal::Signal;
use stayexec_tests::{Input, Scene};

/// Bytes of every value, long enough to fill a pipe many times.
fn bytes() -> Vec<u8> {
    (0..1_000_003_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11).to_le_bytes()[0]).collect()
}

#[test]
fn what_passes_through_is_byte_identical() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let run =
            |command: &[&str]| scene.run().tier("readonly").origin("unattended").command(command).input(Input::Text(bytes())).finish();
        let outcome = run(&["cat"])?;
        outcome.expect_code(0).expect_quiet();
        assert!(outcome.stdout == bytes(), "{} bytes came back", outcome.stdout.len());
        let swapped = run(&["bash", "-c", "cat >&2"])?;
        assert!(swapped.stdout.is_empty() && swapped.stderr == bytes(), "{} bytes came back", swapped.stderr.len());
    }
    Ok(())
}

#[test]
fn a_shell_pipeline_around_it() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("in", bytes())?;
        let gate = format!("{} run --tier readonly --origin unattended --", scene.binary().display());
        let outcome = scene.ungated(["bash", "-c", &format!("set -o pipefail; cat in | {gate} cat | cat > out; echo $?")])?;
        assert_eq!((outcome.out().as_str(), outcome.err().as_str()), ("0\n", ""), "{}", outcome.told());
        assert!(std::fs::read(scene.work().join("out"))? == bytes());
        // A reader that goes away ends the writer as it does without the gate.
        let outcome = scene.ungated(["bash", "-c", &format!("{gate} yes | head -n 1; echo ${{PIPESTATUS[0]}}")])?;
        assert_eq!(outcome.out(), "y\n141\n", "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn a_closed_stream_is_taken_by_nothing_of_the_gate() -> Result<()> {
    let scene = Scene::new()?;
    let gate = format!("{} run --tier full --origin unattended --", scene.binary().display());
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let probe = format!("{gate} bash -c 'echo out; echo err >&2; touch ran' {closed}");
        scene.ungated(["bash", "-c", &probe])?;
        std::fs::remove_file(scene.work().join("ran"))?;
    }
    // Nothing that the agent wrote went into a file of the gate's: all of its records can be read.
    assert_eq!(scene.history()?.iter().filter(|e| e.argv == ["touch", "ran"]).count(), 4);
    Ok(())
}

#[test]
fn the_agent_gets_no_descriptor_of_the_gate() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let list = ["bash", "-c", "for f in /proc/self/fd/*; do echo ${f##*/}; done"];
        let (gated, ungated) = (scene.full(list)?, scene.ungated(list)?);
        assert_eq!(gated.out(), ungated.out(), "{}", gated.told());
    }
    Ok(())
}

#[test]
fn arguments_of_any_bytes() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.readonly(["bash", "-c", "/bin/echo $'\\xff\\xfe' '' 'a  b' $'c\\nd'"])?;
    outcome.expect_code(0).expect_quiet();
    assert_eq!(outcome.stdout, b"\xff\xfe  a  b c\nd\n");
    let odd: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(b"\xff\xfe".to_vec());
    let outcome = scene.readonly(["/bin/echo".into(), odd])?;
    outcome.expect_code(0).expect_quiet();
    assert_eq!(outcome.stdout, b"\xff\xfe\n");
    assert!(!scene.history()?.is_empty());
    Ok(())
}

#[test]
fn an_argument_vector_of_a_megabyte() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let words = vec!["x".repeat(100_000); 10];
        let outcome = scene.readonly(["/bin/echo".to_owned()].into_iter().chain(words))?;
        outcome.expect_code(0).expect_quiet();
        assert_eq!(outcome.stdout.len(), 10 * 100_001);
        let outcome = scene.readonly(["bash", "-c", "w=$(printf 'y%.0s' {1..100000}); /bin/echo $w $w $w $w $w $w $w $w $w $w"])?;
        outcome.expect_code(0).expect_quiet();
        assert_eq!(outcome.stdout.len(), 10 * 100_001);
        // The gate does not fail for a vector that the kernel would refuse, it lets the kernel say so.
        let python =
            "import subprocess\ntry:\n    subprocess.call(['/bin/echo'] + ['z' * 100000] * 100)\nexcept OSError as e:\n    print(e.errno)";
        scene.readonly(["/usr/bin/python3", "-c", python])?.expect_line("7");
    }
    Ok(())
}

#[test]
fn signals_reach_the_agent() -> Result<()> {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGQUIT] {
        for scene in Scene::of_each_user()? {
            let trap = format!("trap 'echo caught; exit 9' {}; echo ready; while :; do sleep 0.05; done", signal.as_str());
            let running = scene.run().tier("full").origin("unattended").command(["bash", "-c", &trap]).start()?;
            running.says("ready")?;
            scene.signal(&scene.warden()?, signal);
            let outcome = running.finish()?;
            outcome.expect_code(9).expect_line("caught");
        }
    }
    Ok(())
}

#[test]
fn a_signal_that_ends_the_agent_is_its_status() -> Result<()> {
    let scene = Scene::new()?;
    let running = scene.run().tier("full").origin("unattended").command(["bash", "-c", "echo ready; exec sleep 100"]).start()?;
    running.says("ready")?;
    scene.signal(&scene.warden()?, Signal::SIGTERM);
    running.finish()?.expect_code(128 + 15);
    Ok(())
}

#[test]
fn descendants_outlive_the_agent_as_they_do_without_the_gate() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.full(["bash", "-c", "(sleep 0.3; touch late) </dev/null >/dev/null 2>&1 & echo gone"])?;
    outcome.expect_code(0).expect_line("gone");
    // Whether the gate waits for them or ends them is its own matter; that they do not run ungated is not.
    let history = scene.history()?;
    let made = scene.mark("late").there();
    assert!(!made || history.iter().any(|e| e.argv.first().is_some_and(|w| w == "touch")), "{history:#?}");
    Ok(())
}
