//! What an ordinary program may do without bringing the gate to a stop.

use anyhow::Result;
use stayexec_tests::Scene;

#[test]
fn an_exec_that_fails_may_be_tried_again_at_once() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("plain", "not to be executed")?;
        let text =
            "import os\nfor i in range(500):\n try:\n  os.execv('./plain', ['x'])\n except PermissionError:\n  pass\nprint('over', i)";
        for _ in 0..3 {
            let outcome = scene.run().tier("full").origin("unattended").command(["/usr/bin/python3", "-c", text]).finish()?;
            outcome.expect_code(0).expect_line("over 499");
        }
    }
    Ok(())
}

#[test]
fn an_agent_that_is_stopped_and_continued_by_its_own_child_goes_on() -> Result<()> {
    let scene = Scene::new()?;
    let text = "import os, signal, subprocess\nfor i in range(20):\n child = os.fork()\n if not child:\n  os.kill(os.getppid(), signal.SIGSTOP)\n  \
        os.kill(os.getppid(), signal.SIGCONT)\n  os._exit(0)\n os.waitpid(child, 0)\n subprocess.run(['/bin/ls', '/'], stdout=subprocess.DEVNULL, check=True)\nprint('over')";
    let outcome = scene.run().tier("full").origin("unattended").command(["/usr/bin/python3", "-c", text]).finish()?;
    outcome.expect_code(0).expect_line("over");
    Ok(())
}

#[test]
fn a_file_of_any_length_is_judged_without_being_read() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text = "truncate -s 8T long && chmod +x long; ./long 2>/dev/null; echo status $?; ls / >/dev/null && echo others";
        let outcome = scene.run().tier("full").origin("unattended").command(["bash", "-c", text]).limit(20).finish()?;
        outcome.expect_line("others");
    }
    Ok(())
}
