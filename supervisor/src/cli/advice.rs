//! What exactly to change where a mode of the gate does not hold.
//!
//! Invariant: each line names the flag of a container or the setting of a machine. Refuses to say whether that is wise: it
//! says what it allows.

use crate::warden::probe::{CALL, FILTER, GREETING, IMAGE, STOP, WORDS};

/// The advice on a step that failed.
pub(super) fn on(step: &str) -> String {
    match step {
        FILTER => {
            "run it outside of the program that listens to seccomp already; in a container: --security-opt seccomp=PROFILE, where the \
                   profile allows seccomp(2) and has no listener of its own"
                .into()
        }
        CALL => "the kernel has to notify calls: Linux 5.19, with CONFIG_SECCOMP_FILTER".into(),
        STOP | IMAGE => attaching(std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok().as_deref()),
        WORDS => "in a container: --cap-add SYS_PTRACE, or --security-opt seccomp=PROFILE with process_vm_readv".into(),
        GREETING => "the runtime folder has to be on a file system that is not mounted noexec: set XDG_RUNTIME_DIR".into(),
        _ => "see docs/interception.md".into(),
    }
}

fn attaching(scope: Option<&str>) -> String {
    match scope.map(str::trim) {
        Some("2") => "sysctl kernel.yama.ptrace_scope=1, or in a container: --cap-add SYS_PTRACE".into(),
        Some("3") => "kernel.yama.ptrace_scope is 3, which stays until the next boot: boot with it set to 1".into(),
        _ => "in a container: --security-opt seccomp=PROFILE with a profile that allows ptrace and process_vm_readv, or --cap-add SYS_PTRACE, \
              with which the default profiles allow both; or accept less: --require seccomp"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_named() {
        assert!(attaching(Some("2\n")).contains("ptrace_scope=1") && attaching(Some("2\n")).contains("SYS_PTRACE"));
        assert!(attaching(Some("3\n")).contains("boot"));
        assert!(attaching(None).contains("--cap-add SYS_PTRACE") && attaching(None).contains("--security-opt seccomp="));
        for step in [FILTER, CALL, STOP, IMAGE, WORDS, GREETING] {
            assert!(on(step).len() > 20, "{step}");
        }
    }
}
