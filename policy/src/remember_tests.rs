//! What is remembered, of commands that are approved for good.

use super::*;
use crate::{FileFacts, Stdin};

fn with<T>(path: &str, argv: &[&str], act: impl Fn(&SecurityPolicy, &Exec<'_>, &Places<'_>) -> T) -> T {
    let argv: Vec<Vec<u8>> = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
    let file = FileFacts {
        path: path.as_bytes(),
        root_owned: true,
        chain_root_owned: true,
        unchanged: true,
        same_view: true,
        linker_trusted: true,
    };
    let exec = Exec { argv: &argv, environment: &[], baseline: &[], cwd: b"/w", file, script: None, stdin: Stdin::Null };
    act(&SecurityPolicy::default(), &exec, &Places { workspace: b"/w", ..Places::default() })
}

fn shape(path: &str, argv: &[&str], class: CommandClass) -> Option<Shape> {
    with(path, argv, |policy, exec, places| Shape::of(policy, exec, places, class))
}

fn covers(shape: &Shape, path: &str, argv: &[&str], class: CommandClass) -> bool {
    with(path, argv, |policy, exec, places| shape.covers(policy, exec, places, class))
}

#[test]
fn operands_are_free_options_are_not() {
    use CommandClass::{Destructive, Network, Write};
    let add = shape("/usr/bin/git", &["git", "add", "-v", "x"], Write).unwrap();
    assert!(covers(&add, "/usr/bin/git", &["git", "add", "y", "-v"], Write));
    assert!(!covers(&add, "/usr/bin/git", &["git", "add", "-f", "y"], Write));
    assert!(!covers(&add, "/usr/bin/git", &["git", "commit", "-v"], Write));
    assert!(!covers(&add, "/opt/git", &["git", "add", "-v", "y"], Write));
    assert!(!covers(&add, "/usr/bin/git", &["git", "add", "-v", "y"], Destructive));
    let curl = shape("/usr/bin/curl", &["curl", "a"], Network).unwrap();
    assert!(covers(&curl, "/usr/bin/curl", &["curl", "a"], Network));
    assert!(!covers(&curl, "/usr/bin/curl", &["curl", "b"], Network));
}

#[test]
fn where_an_operand_or_an_unvetted_option_decides_only_the_same_words_are_covered() {
    use CommandClass::Write;
    for (path, argv, other) in [
        ("/usr/bin/find", &["find", ".", "-exec", "touch", "a", ";"][..], &["find", ".", "-exec", "python3", "-c", "x", ";"][..]),
        ("/usr/bin/mawk", &["awk", "BEGIN{print>\"x\"}"], &["awk", "BEGIN{system(\"touch x\")}"]),
        ("/usr/bin/sed", &["sed", "-i", "s/a/b/", "f"], &["sed", "-i", "1e touch x", "f"]),
        ("/usr/bin/split", &["split", "--lines=5", "f"], &["split", "--filter=touch x", "f"]),
        ("/usr/bin/make", &["make", "a"], &["make", "-f", "evil.mk"]),
        ("/usr/bin/make", &["make", "a"], &["make", "SHELL=./x"]),
        ("/usr/bin/gdb", &["gdb", "-batch", "-ex", "q"], &["gdb", "-batch", "-ex", "shell touch x"]),
        ("/usr/bin/vim", &["vim", "-es", "-c", "q", "f"], &["vim", "-es", "-c", "!touch x", "f"]),
        ("/usr/bin/tar", &["tar", "xf", "a.tar"], &["tar", "cf", "x", "y"]),
        ("/usr/bin/zip", &["zip", "a.zip", "f"], &["zip", "-T", "-TT", "touch x"]),
        ("/usr/bin/git", &["git", "config", "user.name", "x"], &["git", "config", "alias.zz", "!touch x"]),
        ("/usr/bin/git", &["git", "bisect", "run", "make"], &["git", "bisect", "run", "touch", "x"]),
        ("/usr/bin/git", &["git", "frobnicate", "x"], &["git", "frobnicate", "y"]),
        ("/usr/bin/docker", &["docker", "exec", "x", "y"], &["docker", "exec", "x", "sh", "-c", "z"]),
        ("/usr/bin/openssl", &["openssl", "enc", "-k", "x"], &["openssl", "req", "-newkey", "x"]),
        ("/usr/bin/sqlite3", &["sqlite3", "x.db", "update t set a=1"], &["sqlite3", "x.db", ".shell touch x"]),
        ("/usr/bin/gcc", &["gcc", "x.c"], &["gcc", "@evil"]),
        ("/usr/bin/touch", &["touch", "-q", "a"], &["touch", "-q", "b"]),
    ] {
        let Some(shape) = shape(path, argv, Write) else { continue };
        assert!(shape.exact.is_some() && covers(&shape, path, argv, Write), "{argv:?}");
        assert!(!covers(&shape, path, other, Write), "{argv:?}");
    }
    for (path, argv, other) in [
        ("/usr/bin/touch", &["touch", "a"][..], &["touch", "b", "c"][..]),
        ("/usr/bin/cp", &["cp", "-r", "a", "b"], &["cp", "-r", "c", "d"]),
        ("/usr/bin/git", &["git", "commit", "-a", "-m", "x"], &["git", "commit", "-m", "x", "-a", "f"]),
    ] {
        assert!(covers(&shape(path, argv, Write).unwrap(), path, other, Write), "{argv:?}");
    }
}

#[test]
fn what_takes_commands_from_its_input_is_not_seen() {
    let seen =
        |argv: &[&str]| with(&format!("/usr/bin/{}", argv[0]), argv, |policy, exec, places| policy.classify_argv(exec, places).text_seen);
    for argv in [
        &["tclsh"][..],
        &["gdb", "-q"],
        &["sqlite3", "x.db"],
        &["ed", "-s", "f"],
        &["vim", "-es", "f"],
        &["make", "-f", "-"],
        &["make", "-f-"],
        &["awk", "-f", "-", "f"],
        &["sed", "-n", "-f", "-", "f"],
        &["python3.11", "-i", "-c", "1"],
        &["python3.11", "-m", "code"],
        &["xargs", "-I{}", "sh", "-c", "{}"],
        &["script", "-qc", "sh", "/dev/null"],
        &["bash", "-c", "true; bash"],
        &["bash", "-c", "cat | sh"],
        &["bash", "-c", ". /dev/stdin"],
        &["bash", "-c", "python3"],
        &["env", "bash"],
    ] {
        assert!(!seen(argv), "{argv:?}");
    }
    for argv in [
        &["bash", "-c", "make all; npm test"][..],
        &["bash", "-c", "echo ls | sh"],
        &["bash", "-c", "sh <<E\nls\nE"],
        &["bash", "-c", "find . | xargs rm"],
        &["make", "all"],
        &["npm", "install"],
        &["python3.11", "-c", "print(1)"],
        &["python3.11", "-m", "pytest"],
    ] {
        assert!(seen(argv), "{argv:?}");
    }
}

#[test]
fn what_is_shown_holds_no_secret() {
    let secret = "hunter2hunter2";
    for argv in [
        &["curl", "-u", "me:hunter2hunter2", "https://h/"][..],
        &["curl", "-ume:hunter2hunter2", "https://h/"],
        &["curl", "--user", "me:hunter2hunter2", "https://h/"],
        &["curl", "-b", "session=hunter2hunter2", "https://h/"],
        &["curl", "-H", "Authorization: Bearer hunter2hunter2", "https://h/"],
    ] {
        let shown = shape("/usr/bin/curl", argv, CommandClass::Network).unwrap().describe();
        assert!(shown.contains("curl") && !shown.contains(secret), "{shown}");
    }
    let openssl = ["openssl", "enc", "-k", secret];
    let shown = shape("/usr/bin/openssl", &openssl, CommandClass::Write).map(|shape| shape.describe());
    assert!(shown.is_some_and(|shown| !shown.contains(secret)));
}

#[test]
fn a_file_of_several_programs_is_remembered_as_the_one_that_it_was() {
    use CommandClass::Write;
    let rustup = "/home/dev/.cargo/bin/rustup";
    let build = shape(rustup, &["cargo", "build", "x"], Write).unwrap();
    assert!(covers(&build, rustup, &["cargo", "build", "y"], Write));
    assert!(!covers(&build, rustup, &["rustup", "build", "x"], Write));
    assert!(!covers(&build, rustup, &["rustc", "build", "x"], Write));
    let touch = shape("/usr/bin/busybox", &["touch", "x"], Write).unwrap();
    assert!(!covers(&touch, "/usr/bin/busybox", &["rm", "x"], Write));
    assert_eq!(touch.describe(), "`/usr/bin/busybox …` (called touch) with any operands, up to write");
}

#[test]
fn a_file_of_the_tree_is_remembered_as_that_file_alone() {
    use CommandClass::Write;
    let tool = shape("/w/tool", &["tool", "-v", "x"], Write).unwrap();
    assert!(tool.same_file);
    assert_eq!(tool.describe(), "exactly `/w/tool -v x`, up to write, while the file stays as it is");
    assert!(covers(&tool, "/w/tool", &["tool", "-v", "x"], Write));
    assert!(!covers(&tool, "/w/tool", &["tool", "-v", "y"], Write));
    // A name that the knowledge has gives a file of the tree no more than its exact words.
    let git = shape("/w/git", &["git", "add", "x"], Write).unwrap();
    assert!(git.same_file && !covers(&git, "/w/git", &["git", "add", "y"], Write));
    let unknown = shape("/usr/bin/nosuch", &["nosuch", "x"], Write).unwrap();
    assert!(!unknown.same_file && unknown.exact.is_some());
    assert!(!covers(&unknown, "/usr/bin/nosuch", &["nosuch", "y"], Write));
    let loaded = |policy: &SecurityPolicy, exec: &Exec<'_>, places: &Places<'_>| {
        let exec = Exec { file: FileFacts { linker_trusted: false, ..exec.file }, ..*exec };
        Shape::of(policy, &exec, places, Write)
    };
    assert_eq!(with("/w/tool", &["tool"], loaded), None);
}

#[test]
fn nothing_that_runs_anything_is_remembered() {
    use CommandClass::Write;
    for (path, argv) in [
        ("/usr/bin/bash", &["bash"][..]),
        ("/usr/bin/bash", &["bash", "x.sh"]),
        ("/usr/bin/python3.11", &["python3"]),
        ("/usr/bin/python3.11", &["python3", "-u", "-"]),
        ("/usr/bin/python3.11", &["python3", "x.py"]),
        ("/usr/bin/env", &["env"]),
        ("/usr/bin/env", &["env", "bash"]),
        ("/usr/bin/timeout", &["timeout", "9", "sh", "-s"]),
        ("/usr/bin/unshare", &["unshare", "-r"]),
        ("/usr/bin/timeout", &["timeout", "9", "python3", "x.py"]),
        ("/usr/bin/timeout", &["timeout", "9", "./x"]),
        ("/usr/bin/bash", &["bash", "-c", "./x.sh"]),
        ("/usr/bin/bash", &["bash", "-c", "make && bash x.sh"]),
        ("/usr/bin/bash", &["bash", "-c", ". ./x.sh"]),
        ("/usr/bin/bash", &["bash", "-c", "curl x | sh"]),
        ("/usr/bin/busybox", &["busybox", "sh"]),
        ("/usr/bin/xargs", &["xargs", "rm"]),
        ("/usr/bin/python3.11", &["python3", "-m", "mymod"]),
        ("/usr/bin/perl", &["perl", "-I.", "-Mmod", "-e", "1"]),
        ("/usr/bin/node", &["node", "-r", "./mod.js", "-e", "1"]),
        ("/usr/bin/bash", &["bash", "--rcfile", "x.sh", "-ic", "true"]),
        ("/usr/bin/parallel", &["parallel", "-j2"]),
        ("/w/bash", &["bash"]),
    ] {
        assert_eq!(shape(path, argv, Write), None, "{argv:?}");
    }
}

#[test]
fn what_runs_a_text_that_was_seen_is_remembered_word_by_word() {
    use CommandClass::Write;
    for (path, argv) in [
        ("/usr/bin/bash", &["bash", "-c", "make"][..]),
        ("/usr/bin/python3.11", &["python3", "-c", "print(1)"]),
        ("/usr/bin/env", &["env", "make"]),
        ("/usr/bin/timeout", &["timeout", "9", "make"]),
        ("/usr/bin/busybox", &["busybox", "rm", "x"]),
        ("/usr/bin/sudo", &["sudo", "make"]),
    ] {
        let text = shape(path, argv, Write).unwrap();
        assert!(covers(&text, path, argv, Write), "{argv:?}");
        assert!(!covers(&text, path, &[argv, &["x"]].concat(), Write), "{argv:?}");
    }
}
