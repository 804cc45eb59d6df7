//! A container: another root, its own namespaces, few capabilities, and the seccomp profile that container engines ship.
//!
//! crun starts it from a bundle in the scene's folder. Its root has the machine's own /usr, read only, or is one that was
//! given; in both the scene's folder is mounted. Invariant: nothing of it outlives its first process. Refuses to be left out silently.

use crate::{Launch, Scene, cannot_run};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The profile that podman, buildah and CRI-O use; Docker's has the same source.
const PROFILE: &str = "/usr/share/containers/seccomp.json";

/// The capabilities that podman gives by default.
pub const CAPABILITIES: [&str; 11] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

/// What a container is made of besides its command.
#[derive(Debug, Default)]
pub struct Container {
    /// Capabilities of its processes.
    pub capabilities: Vec<&'static str>,
    /// System calls that it refuses besides those of the profile.
    pub refused: Vec<&'static str>,
    /// A root folder, where it is not made of the machine's own /usr.
    pub root: Option<PathBuf>,
    /// runc starts it, and not crun.
    pub runc: bool,
}

/// Whether a container can be started here.
#[must_use]
pub fn containers_work(scene: &Scene) -> bool {
    let installed = Path::new(PROFILE).exists() && Command::new("crun").arg("--version").output().is_ok_and(|o| o.status.success());
    let works = scene.switch().is_none() && scene.is_root() && installed;
    if !works {
        cannot_run("only root can start a container, with crun and golang-github-containers-common");
    }
    works
}

/// A root folder in which the machine's own /usr is to be mounted.
pub(crate) fn lay_root(root: &Path) -> Result<()> {
    for folder in ["usr", "proc", "dev", "sys", "tmp", "etc", "run"] {
        fs::create_dir_all(root.join(folder))?;
    }
    for link in ["bin", "sbin", "lib", "lib32", "lib64"] {
        std::os::unix::fs::symlink(format!("usr/{link}"), root.join(link))?;
    }
    Ok(())
}

impl Container {
    /// One as container engines make it.
    #[must_use]
    pub fn usual() -> Self {
        Self { capabilities: CAPABILITIES.to_vec(), ..Self::default() }
    }

    /// A command in it, in the scene's work folder.
    ///
    /// # Errors
    /// The bundle cannot be made.
    pub fn launch<'s>(&self, scene: &'s Scene, command: &[&str]) -> Result<Launch<'s>> {
        Ok(scene.ungated_launch(self.words(scene, command)?))
    }

    /// The words that start it.
    ///
    /// # Errors
    /// The bundle cannot be made.
    pub fn words(&self, scene: &Scene, command: &[&str]) -> Result<Vec<String>> {
        let bundle = tempfile::Builder::new().prefix("bundle-").tempdir_in(scene.path(""))?.keep();
        lay_root(&bundle.join("root"))?;
        fs::write(bundle.join("config.json"), serde_json::to_vec(&self.config(scene, command)?)?)?;
        // A machine may have the first version of cgroups, or both; crun takes one that has the second alone.
        let cgroups = "mount -t cgroup2 none /sys/fs/cgroup && exec \"$@\"";
        let name = bundle.file_name().and_then(|n| n.to_str()).context("a name")?;
        let (state, bundle) = (scene.path("containers").display().to_string(), bundle.display().to_string());
        if self.runc {
            return Ok(["runc", "--root", &state, "run", "--bundle", &bundle, name].map(str::to_owned).into());
        }
        let around = ["unshare", "-m", "sh", "-c", cgroups, "sh"];
        let crun = ["crun", "--root", &state, "--cgroup-manager=disabled", "run", "--bundle", &bundle, name];
        Ok(around.iter().chain(&crun).map(|word| (*word).to_owned()).collect())
    }

    fn config(&self, scene: &Scene, command: &[&str]) -> Result<Value> {
        let environment: Vec<String> = scene.environment().into_iter().map(|(k, v)| format!("{k}={}", v.display())).collect();
        let sets: serde_json::Map<String, Value> =
            ["bounding", "effective", "permitted"].iter().map(|set| ((*set).to_owned(), json!(self.capabilities))).collect();
        let mount = |at: &str, kind: &str, source: &str, options: &[&str]| json!({ "destination": at, "type": kind, "source": source, "options": options });
        let folder = scene.path("").display().to_string();
        let folder = folder.trim_end_matches('/');
        let mut mounts = vec![
            mount("/proc", "proc", "proc", &[]),
            mount("/dev", "tmpfs", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            mount("/dev/pts", "devpts", "devpts", &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]),
            mount("/dev/shm", "tmpfs", "shm", &["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]),
            mount(folder, "bind", folder, &["rbind", "rw"]),
        ];
        if self.root.is_none() {
            mounts.push(mount("/usr", "bind", "/usr", &["rbind", "ro"]));
        }
        let spaces = ["pid", "network", "ipc", "uts", "mount"].map(|kind| json!({ "type": kind }));
        Ok(json!({
            "ociVersion": "1.0.0",
            "process": {
                "terminal": false, "user": { "uid": 0, "gid": 0 }, "args": command, "env": environment, "cwd": scene.work(),
                "capabilities": sets, "noNewPrivileges": false,
            },
            "root": { "path": self.root.as_deref().unwrap_or(Path::new("root")), "readonly": false },
            "hostname": "container",
            "mounts": mounts,
            "linux": {
                "namespaces": spaces,
                "maskedPaths": ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug"],
                "readonlyPaths": ["/proc/asound", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
                "seccomp": self.profile()?,
            },
        }))
    }

    /// The engines' profile, reduced to what holds for these capabilities, in the runtime's own form.
    fn profile(&self) -> Result<Value> {
        let profile: Value = serde_json::from_slice(&fs::read(PROFILE)?)?;
        let arch = if cfg!(target_arch = "aarch64") { ("arm64", "SCMP_ARCH_AARCH64") } else { ("amd64", "SCMP_ARCH_X86_64") };
        let names = |value: &Value| value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
        let has = |name: &String| self.capabilities.contains(&name.as_str()) || name == arch.0;
        let mut calls = Vec::new();
        for entry in profile["syscalls"].as_array().context("system calls")? {
            let (with, without) = (&entry["includes"], &entry["excludes"]);
            let holds = |of: &Value, key: &str| names(&of[key]).iter().all(has);
            let excluded = ["caps", "arches"].iter().any(|key| !names(&without[*key]).is_empty() && holds(without, key));
            if !holds(with, "caps") || !names(&with["arches"]).is_empty() && !names(&with["arches"]).iter().any(has) || excluded {
                continue;
            }
            let mut call = json!({ "names": names(&entry["names"]), "action": entry["action"] });
            for key in ["args", "errnoRet"] {
                if !entry[key].is_null() {
                    call[key] = entry[key].clone();
                }
            }
            if let Some(list) = call["names"].as_array_mut() {
                list.retain(|name| name.as_str().is_none_or(|name| !self.refused.contains(&name)));
            }
            calls.push(call);
        }
        if !self.refused.is_empty() {
            calls.push(json!({ "names": self.refused, "action": "SCMP_ACT_ERRNO", "errnoRet": libc::EPERM }));
        }
        Ok(json!({
            "defaultAction": profile["defaultAction"],
            "defaultErrnoRet": profile["defaultErrnoRet"],
            "architectures": [arch.1, if arch.0 == "amd64" { "SCMP_ARCH_X86" } else { "SCMP_ARCH_ARM" }],
            "syscalls": calls,
        }))
    }
}
