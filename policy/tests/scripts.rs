//! Scripts behind a start: believed by their names, read as text, asked for, or not seen at all.

#[path = "common/start.rs"]
mod start;

use stayexec_policy::{Assessment, CommandClass, Stdin};

use CommandClass::{Destructive, Install, Network, Read, Write};
use start::{Behind, PLAIN, Start, assess, behind};

/// A script that the kernel or the command line gives to an interpreter, everything in its place.
fn script(image: &str, argv: &[&str], behind: Behind<'_>) -> Assessment {
    assess(&Start { path: image, argv, script: Some(behind), ..PLAIN })
}

const NPM: (&str, &str) = ("/usr/bin/npm", "/usr/lib/node_modules/npm/bin/npm-cli.js");

#[test]
fn a_believed_script_is_what_its_name_says() {
    let npm = behind(NPM.0, NPM.1, Some("require('x')"));
    let operand = Behind { operand: true, kernel: false, ..npm };
    for (argv, expected) in [
        (&["/usr/bin/env", "node", "/usr/bin/npm", "--version"][..], Read),
        (&["/usr/bin/env", "node", "/usr/bin/npm", "ls", "--depth=0"][..], Read),
        (&["/usr/bin/env", "node", "/usr/bin/npm", "view", "x"][..], Network),
        (&["/usr/bin/env", "node", "/usr/bin/npm", "install", "x"][..], Install),
        (&["/usr/bin/env", "-S node --no-warnings", "/usr/bin/npm", "ls"][..], Read),
        (&["/usr/bin/env", "-S node --require=./x", "/usr/bin/npm", "ls"][..], Write),
        (&["/usr/bin/env", "-S LD_PRELOAD=./x node", "/usr/bin/npm", "ls"][..], Write),
        (&["/usr/bin/env", "/tmp/node", "/usr/bin/npm", "ls"][..], Write),
    ] {
        assert_eq!(script("/usr/bin/env", argv, npm).class, expected, "{argv:?}");
    }
    for (argv, expected) in [
        (&["node", "/usr/bin/npm", "--version"][..], Read),
        (&["node", "/usr/bin/npm", "install", "x"][..], Install),
        (&["node", "--max-old-space-size=4096", "/usr/bin/npm", "ls"][..], Read),
        (&["node", "--require", "./x.js", "/usr/bin/npm", "ls"][..], Write),
        (&["node", "-r./x.js", "/usr/bin/npm", "ls"][..], Write),
        (&["node", "--import=./x.js", "/usr/bin/npm", "ls"][..], Write),
        (&["node", "--unheard-of", "/usr/bin/npm", "ls"][..], Write),
        (&["node", "./x.js", "/usr/bin/npm", "ls"][..], Write),
        (&["node", "-e", "1", "/usr/bin/npm", "ls"][..], Write),
    ] {
        assert_eq!(script("/usr/bin/node", argv, npm).class, expected, "{argv:?}");
        assert_eq!(script("/usr/bin/node", argv, operand).class, expected, "{argv:?}");
    }
    assert!(script("/usr/bin/node", &["node", "/usr/bin/npm", "install", "x"], operand).text_seen);
    let options = Start { environment: &["NODE_OPTIONS=--require ./x"], path: "/usr/bin/node", argv: &["node", NPM.0, "ls"], ..PLAIN };
    assert_eq!(assess(&Start { script: Some(operand), ..options }).class, Write);
}

#[test]
fn a_script_is_believed_only_where_a_program_would_be() {
    let argv = &["node", "/usr/bin/npm", "ls"][..];
    let npm = behind(NPM.0, NPM.1, Some(""));
    assert_eq!(script("/usr/bin/node", argv, Behind { unchanged: false, ..npm }).class, Write);
    assert_eq!(script("/usr/bin/node", argv, Behind { root_owned: false, ..npm }).class, Write);
    assert_eq!(script("/usr/bin/node", argv, Behind { resolved: "/tmp/npm-cli.js", ..npm }).class, Write);
    assert_eq!(script("/usr/bin/node", argv, Behind { resolved: "/home/dev/proj/npm", ..npm }).class, Write);
    assert_eq!(script("/usr/bin/node", argv, Behind { resolved: "/usr/lib/x/other.js", ..npm }).class, Write, "the name is the file's");
    assert_eq!(script("/tmp/node", argv, npm).class, Write);
    // What only bears the name of a program lies elsewhere.
    let completion = behind("/usr/share/completions/ls", "/usr/share/completions/ls", Some("import os"));
    assert_eq!(script("/usr/bin/python3", &["python3", "/usr/share/completions/ls"], completion).class, Write);
    // Without its text an operand may be a directory, or nothing at all.
    let unread = Behind { operand: true, kernel: false, text: None, ..npm };
    assert_eq!(script("/usr/bin/node", argv, unread).class, Write);
    assert_eq!(script("/usr/bin/node", argv, Behind { text: None, ..npm }).class, Read, "the kernel's own choice");
    // What it would be still raises.
    assert_eq!(script("/usr/bin/node", &["node", "npm", "install"], Behind { path: "npm", unchanged: false, ..npm }).class, Install);
}

#[test]
fn shell_scripts_by_name_and_by_text() {
    let which = behind("/usr/bin/which", "/usr/bin/which.debianutils", Some("#!/bin/sh\nfor x; do rm $x; done\n"));
    assert_eq!(script("/usr/bin/dash", &["/bin/sh", "/usr/bin/which", "ls"], which).class, Read);
    assert_eq!(script("/usr/bin/dash", &["/bin/sh", "-e", "/usr/bin/which", "ls"], which).class, Read);
    assert_eq!(script("/usr/bin/dash", &["/bin/sh", "-", "/usr/bin/which", "ls"], which).class, Read);
    assert_eq!(script("/usr/bin/bash", &["bash", "--rcfile", "x", "/usr/bin/which", "ls"], which).class, Write);
    assert_eq!(script("/usr/bin/bash", &["bash", "-c", "rm -rf x", "/usr/bin/which"], which).class, Destructive);
    assert_eq!(script("/usr/bin/dash", &["sh", "/usr/bin/which", "ls"], Behind { unchanged: false, ..which }).class, Write);
    assert_eq!(script("/usr/bin/busybox", &["/bin/sh", "/usr/bin/which", "ls"], which).class, Read);
    let ldd = behind("/usr/bin/ldd", "/usr/bin/ldd", Some("#!/bin/bash\nrm -rf x\n"));
    assert_eq!(script("/usr/bin/bash", &["/bin/bash", "/usr/bin/ldd", "x"], ldd).class, Write, "what ldd is known for");
    assert_eq!(script("/usr/bin/bash", &["/bin/bash", "/usr/bin/ldd", "--version"], ldd).class, Read);
    assert_eq!(script("/usr/bin/bash", &["/bin/bash", "/usr/bin/ldd", "x"], Behind { text: Some("ls"), ..ldd }).class, Read);
    let shim = behind("/home/dev/.pyenv/shims/python3", "/home/dev/.pyenv/shims/python3", Some("exec pyenv exec \"$0\" \"$@\"\n"));
    assert_eq!(script("/usr/bin/bash", &["bash", "/home/dev/.pyenv/shims/python3", "--version"], shim).class, Read);
    assert_eq!(script("/usr/bin/bash", &["bash", "/home/dev/.pyenv/shims/python3", "x.py"], shim).class, Write);
    assert_eq!(script("/usr/bin/env", &["/usr/bin/env", "bash", "/home/dev/.pyenv/shims/python3", "-V"], shim).class, Read);
    let release = behind("/usr/bin/lsb_release", "/usr/share/pyshared/lsb_release.py", Some("import os"));
    assert_eq!(script("/usr/bin/python3.11", &["/usr/bin/python3", "-Es", "/usr/bin/lsb_release", "-a"], release).class, Read);
    assert_eq!(script("/usr/bin/python3.11", &["python3", "-X", "x", "/usr/bin/lsb_release", "-a"], release).class, Write);
}

#[test]
fn a_file_that_decides_is_wanted() {
    let wants = |path, argv| assess(&Start { path, argv, ..PLAIN }).wants.map(|path| String::from_utf8(path).unwrap());
    assert_eq!(wants("/usr/bin/bash", &["bash", "x.sh", "a"]).as_deref(), Some("x.sh"));
    assert_eq!(wants("/usr/bin/bash", &["bash", "-eux", "./x.sh"]).as_deref(), Some("./x.sh"));
    assert_eq!(wants("/usr/bin/node", &["node", "/usr/bin/npm", "ls"]).as_deref(), Some("/usr/bin/npm"));
    assert_eq!(wants("/usr/bin/python3.11", &["python3", "-u", "tool.py"]).as_deref(), Some("tool.py"));
    assert_eq!(wants("/usr/bin/perl", &["perl", "-w", "x.pl", "x.pl"]).as_deref(), Some("x.pl"));
    assert_eq!(wants("/usr/bin/env", &["env", "node", "x.js"]).as_deref(), Some("x.js"));
    assert_eq!(wants("/usr/bin/busybox", &["sh", "x.sh"]).as_deref(), Some("x.sh"));
    for (path, argv) in [
        ("/usr/bin/bash", &["bash", "-c", "ls"][..]),
        ("/usr/bin/bash", &["bash", "-s", "x"]),
        ("/usr/bin/bash", &["bash", "--version"]),
        ("/usr/bin/bash", &["bash", "/dev/fd/63"]),
        ("/usr/bin/bash", &["bash"]),
        ("/usr/bin/python3.11", &["python3", "-m", "pip", "list"]),
        ("/usr/bin/python3.11", &["python3", "-c", "1", "x"]),
        ("/usr/bin/python3.11", &["python3", "-"]),
        ("/usr/bin/perl", &["perl", "-ne", "print", "x"]),
        ("/usr/bin/ls", &["ls", "x"]),
        ("/usr/bin/nosuch", &["nosuch", "x"]),
    ] {
        assert_eq!(wants(path, argv), None, "{argv:?}");
    }
    let asked = assess(&Start {
        path: "/usr/bin/bash",
        argv: &["bash", "x.sh"],
        script: Some(Behind { operand: true, kernel: false, ..behind("x.sh", "/home/dev/proj/x.sh", Some("ls")) }),
        ..PLAIN
    });
    assert_eq!((asked.class, asked.wants, asked.text_seen), (Read, None, true));
    assert!(!assess(&Start { path: "/usr/bin/bash", argv: &["bash", "x.sh"], ..PLAIN }).text_seen);
}

#[test]
fn a_script_behind_a_wrapper_is_looked_at() {
    for argv in [
        &["timeout", "9", "bash", "x.sh"][..],
        &["nice", "-n", "1", "bash", "x.sh"],
        &["env", "A=1", "timeout", "-s", "KILL", "9", "bash", "x.sh"],
    ] {
        let path = format!("/usr/bin/{}", argv[0]);
        let start = Start { path: &path, argv, ..PLAIN };
        assert_eq!(assess(&start).wants.as_deref(), Some(&b"x.sh"[..]), "{argv:?}");
        let read = |text| {
            let script = Behind { operand: true, kernel: false, ..behind("x.sh", "/home/dev/proj/x.sh", text) };
            assess(&Start { script: Some(script), ..start })
        };
        let (tame, wild, unread) = (read(Some("ls")), read(Some("rm -rf x")), read(None));
        assert_eq!((tame.class, tame.wants, tame.text_seen), (Write, None, true), "{argv:?}");
        assert_eq!((wild.class, unread.class, unread.text_seen), (Destructive, Write, false), "{argv:?}");
    }
}

#[test]
fn a_text_from_elsewhere_is_not_seen() {
    let seen = |path, argv| assess(&Start { path, argv, stdin: Stdin::Pipe, ..PLAIN }).text_seen;
    for (path, argv) in [
        ("/usr/bin/bash", &["bash"][..]),
        ("/usr/bin/bash", &["bash", "-s", "x"]),
        ("/usr/bin/python3", &["python3", "-u"]),
        ("/usr/bin/python3", &["python3", "-", "x"]),
        ("/usr/bin/perl", &["perl", "-w"]),
        ("/usr/bin/env", &["env", "A=1", "bash"]),
        ("/usr/bin/timeout", &["timeout", "9", "nice", "sh"]),
        ("/usr/bin/sudo", &["sudo", "python3", "-i"]),
        ("/usr/bin/busybox", &["busybox", "sh"]),
        ("/usr/bin/parallel", &["parallel", "-j", "2"]),
        ("/usr/bin/unshare", &["unshare", "-r"]),
        ("/usr/bin/timeout", &["timeout", "9", "./x"]),
        ("/usr/bin/timeout", &["timeout", "9", "bash", "x.sh"]),
    ] {
        assert!(!seen(path, argv), "{argv:?}");
    }
    for (path, argv) in [
        ("/usr/bin/bash", &["bash", "-c", "python3 - <<'E'\nprint(1)\nE"][..]),
        ("/usr/bin/bash", &["bash", "-c", "curl x | sh"]),
        ("/usr/bin/python3", &["python3", "-c", "print(1)"]),
        ("/usr/bin/python3", &["python3", "-m", "pip", "install", "x"]),
        ("/usr/bin/env", &["env", "A=1", "bash", "-c", "make"]),
        ("/usr/bin/timeout", &["timeout", "9", "make"]),
        ("/usr/bin/unshare", &["unshare", "-r", "make"]),
        ("/usr/bin/xargs", &["xargs", "rm"]),
        ("/usr/bin/cargo", &["cargo", "build"]),
    ] {
        assert!(seen(path, argv), "{argv:?}");
    }
}
