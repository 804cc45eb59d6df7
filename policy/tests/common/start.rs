//! A program start as the tests write it: a file, its words, what is known about it, and the script behind it.
//!
//! The home is /home/dev, the workspace /home/dev/proj, and the launch environment holds a pager and options of node.

use stayexec_policy::{Assessment, Exec, FileFacts, OwnFiles, Places, Script, SecurityPolicy, Stdin};

pub struct Start<'a> {
    pub path: &'a str,
    pub argv: &'a [&'a str],
    pub environment: &'a [&'a str],
    pub unchanged: bool,
    pub root_owned: bool,
    pub script: Option<Behind<'a>>,
    pub stdin: Stdin,
}

/// A script: the word in argv, where it leads, its text, and who chose it.
#[derive(Clone, Copy)]
pub struct Behind<'a> {
    pub path: &'a str,
    pub resolved: &'a str,
    pub text: Option<&'a str>,
    pub operand: bool,
    pub kernel: bool,
    pub unchanged: bool,
    pub root_owned: bool,
}

pub fn behind(path: &'static str, resolved: &'static str, text: Option<&'static str>) -> Behind<'static> {
    Behind { path, resolved, text, operand: false, kernel: true, unchanged: true, root_owned: resolved.starts_with("/usr") }
}

pub const PLAIN: Start<'_> =
    Start { path: "/usr/bin/ls", argv: &["ls"], environment: &[], unchanged: true, root_owned: true, script: None, stdin: Stdin::Null };

pub fn owned(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

pub fn assess(start: &Start<'_>) -> Assessment {
    let (argv, environment, baseline) =
        (owned(start.argv), owned(start.environment), owned(&["HOME=/home/dev", "PAGER=less", "NODE_OPTIONS=--x"]));
    let (launch_path, temp, trust) =
        (owned(&["/usr/bin", "/home/dev/.cargo/bin", "/home/dev/.pyenv/shims"]), owned(&["/tmp"]), owned(&["/opt/tools"]));
    let (sources, sinks) = (owned(&["~/.agent/snapshots/*.sh"]), owned(&["/tmp/agent-*-cwd"]));
    let places = Places {
        launch_path: &launch_path,
        trust_dirs: &trust,
        workspace: b"/home/dev/proj",
        temp: &temp,
        home: b"/home/dev",
        own_files: OwnFiles { sources: &sources, sinks: &sinks },
    };
    let file = FileFacts {
        path: start.path.as_bytes(),
        root_owned: start.root_owned,
        chain_root_owned: start.root_owned,
        unchanged: start.unchanged,
        same_view: true,
        linker_trusted: true,
    };
    let script = start.script.map(|behind| Script {
        path: behind.path.as_bytes(),
        text: behind.text.map(str::as_bytes),
        operand: behind.operand,
        interpreted_by_kernel: behind.kernel,
        file: FileFacts {
            path: behind.resolved.as_bytes(),
            root_owned: behind.root_owned,
            chain_root_owned: behind.root_owned,
            unchanged: behind.unchanged,
            same_view: true,
            linker_trusted: true,
        },
    });
    let exec =
        Exec { argv: &argv, environment: &environment, baseline: &baseline, cwd: b"/home/dev/proj", file, script, stdin: start.stdin };
    SecurityPolicy::default().classify_argv(&exec, &places)
}
