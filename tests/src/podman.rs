//! A container of podman's own making: its default capabilities, its default seccomp profile, conmon and crun.
//!
//! It is made on a root folder, so no image is fetched. Invariant: whatever podman keeps outside of the scene's folder lies in
//! file systems of a mount namespace of its own. Refuses to be left out silently.

use crate::container::lay_root;
use crate::{Scene, cannot_run};
use anyhow::Result;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// crun without limits of resources: podman asks for the highest, which takes CAP_SYS_RESOURCE, and a machine that is a
/// container itself may lack it. Nothing else of what podman has written is changed.
const RUNTIME: &str = "#!/usr/bin/python3\n\
    import json, os, sys\n\
    words = sys.argv[1:]\n\
    if '--bundle' in words:\n    \
        name = words[words.index('--bundle') + 1] + '/config.json'\n    \
        with open(name) as file: config = json.load(file)\n    \
        config['process'].pop('rlimits', None)\n    \
        with open(name, 'w') as file: json.dump(config, file)\n\
    os.execv('/usr/bin/crun', ['crun'] + words)\n";

/// A machine may have the first version of cgroups, or both; crun takes one that has the second alone. Locks and states of
/// podman's go with the namespace.
const AROUND: &str = "mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs none /run && mount -t tmpfs none /dev/shm && exec \"$@\"";

/// Whether podman can start a container here.
#[must_use]
pub fn podman_works(scene: &Scene) -> bool {
    let installed = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let works = scene.switch().is_none() && scene.is_root() && ["podman", "crun", "conmon"].into_iter().all(installed);
    if !works {
        cannot_run("only root can start a container of podman's, with podman, conmon and crun");
    }
    works
}

/// The words that have podman run a command, in the scene's work folder.
///
/// # Errors
/// The root or the runtime cannot be written.
pub fn podman_words(scene: &Scene, command: &[&str]) -> Result<Vec<String>> {
    let at = tempfile::Builder::new().prefix("podman-").tempdir_in(scene.path(""))?.keep();
    lay_root(&at.join("root"))?;
    // podman knows by its name that it can do without control groups.
    let runtime = at.join("crun");
    fs::write(&runtime, RUNTIME)?;
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o755))?;
    let path = |name: &str| at.join(name).display().to_string();
    let folder = scene.path("").display().to_string();
    let folder = folder.trim_end_matches('/');
    let mut words: Vec<String> = ["unshare", "-m", "sh", "-c", AROUND, "sh", "podman"].map(str::to_owned).into();
    words.extend(["--root".into(), path("store"), "--runroot".into(), path("state"), "--tmpdir".into(), path("tmp")]);
    words.extend(["--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--events-backend=none"].map(str::to_owned));
    words.extend([format!("--runtime={}", path("crun"))]);
    words.extend(["run", "--rm", "--network=none", "--cgroups=disabled", "--volume=/usr:/usr:ro"].map(str::to_owned));
    words.extend([format!("--volume={folder}:{folder}"), format!("--workdir={}", scene.work().display())]);
    words.extend(scene.environment().into_iter().map(|(name, value)| format!("--env={name}={}", value.display())));
    words.extend(["--rootfs".into(), path("root")]);
    words.extend(command.iter().map(|word| (*word).to_owned()));
    Ok(words)
}
