//! What a debugger in the tree starts cannot be verified, and is refused with the reason.

use anyhow::Result;
use stayexec_tests::Scene;

#[test]
fn what_strace_and_gdb_start_is_refused_with_the_reason() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.ungated(["strace", "-o", "log", "touch", "made"])?.expect_code(0);
        scene.mark("made").expect_made();
        std::fs::remove_file(scene.work().join("made"))?;
        let gdb = ["gdb", "-q", "-batch", "-ex", "set startup-with-shell off", "-ex", "run", "--args", "/usr/bin/touch", "made"];
        for command in [&["strace", "-o", "log", "touch", "made"][..], &gdb] {
            let outcome = scene.full(command)?;
            scene.mark("made").expect_none();
            assert!(outcome.err().contains("is traced by process"), "{}", outcome.told());
            let refused = scene.history()?.into_iter().filter(|entry| entry.reason == "untraceable").count();
            assert!(refused > 0, "{}", outcome.told());
        }
    }
    Ok(())
}
