//! The exec-level judgement: names are believed only of files that are what they say.

use stayexec_policy::{Assessment, CommandClass, Exec, FileFacts, OwnFiles, Places, ReasonCode, Script, SecurityPolicy, Stdin};

use CommandClass::{Destructive, Install, Network, Read, Write};

struct Start<'a> {
    path: &'a str,
    argv: &'a [&'a str],
    environment: &'a [&'a str],
    unchanged: bool,
    root_owned: bool,
    script: Option<Behind<'a>>,
    stdin: Stdin,
}

/// A script: the word in argv, where it leads, its text, and who chose it.
#[derive(Clone, Copy)]
struct Behind<'a> {
    path: &'a str,
    resolved: &'a str,
    text: Option<&'a str>,
    operand: bool,
    kernel: bool,
    unchanged: bool,
    root_owned: bool,
}

fn behind(path: &'static str, resolved: &'static str, text: Option<&'static str>) -> Behind<'static> {
    Behind { path, resolved, text, operand: false, kernel: true, unchanged: true, root_owned: resolved.starts_with("/usr") }
}

const PLAIN: Start<'_> =
    Start { path: "/usr/bin/ls", argv: &["ls"], environment: &[], unchanged: true, root_owned: true, script: None, stdin: Stdin::Null };

fn owned(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

fn assess(start: &Start<'_>) -> Assessment {
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

fn class(path: &str, argv: &[&str]) -> CommandClass {
    assess(&Start { path, argv, ..PLAIN }).class
}

#[test]
fn the_file_gives_the_name() {
    assert_eq!(class("/usr/bin/ls", &["ls", "-la"]), Read);
    assert_eq!(class("/usr/bin/rm", &["ls", "x"]), Write);
    assert_eq!(class("/usr/bin/rm", &["ls", "-rf", "x"]), Destructive);
    assert_eq!(class("/home/dev/proj/ls", &["ls"]), Write);
    assert_eq!(class("/tmp/ls", &["/usr/bin/ls"]), Write);
    assert_eq!(class("/usr/bin/nosuch", &["ls"]), Write);
    let changed = Start { unchanged: false, ..PLAIN };
    assert_eq!((assess(&changed).class, assess(&changed).code), (Write, ReasonCode::UntrustedFile));
    let own = Start { path: "/home/dev/.cargo/bin/rg", argv: &["rg", "x"], root_owned: false, ..PLAIN };
    assert_eq!(assess(&own).class, Read);
    assert_eq!(assess(&Start { path: "/opt/tools/bin/rg", ..own }).class, Read);
    assert_eq!(assess(&Start { path: "/home/dev/other/rg", ..own }).class, Write);
    assert_eq!(assess(&Start { unchanged: false, ..own }).class, Write);
}

#[test]
fn other_names_of_programs() {
    assert_eq!(class("/usr/bin/mawk", &["awk", "{print $1}"]), Read);
    assert_eq!(class("/usr/bin/mawk", &["awk", "BEGIN{system(\"x\")}"]), Write);
    assert_eq!(class("/usr/bin/python3.11", &["python3", "--version"]), Read);
    assert_eq!(class("/usr/bin/python3.11", &["python3", "-c", "1"]), Write);
    assert_eq!(class("/usr/bin/nc.openbsd", &["nc", "h", "1"]), Network);
    assert_eq!(class("/usr/bin/vim.basic", &["vi", "x"]), Write);
    assert_eq!(class("/usr/bin/busybox", &["ls"]), Read);
    assert_eq!(class("/usr/bin/busybox", &["busybox", "ls"]), Read);
    assert_eq!(class("/usr/bin/busybox", &["/bin/rm", "-r", "x"]), Destructive);
    assert_eq!(class("/usr/bin/busybox", &["busybox", "rm", "x"]), Write);
    assert_eq!(class("/usr/bin/x86_64-linux-gnu-readelf", &["readelf", "-h", "x"]), Read);
    assert_eq!(class("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", &["ld.so", "/bin/rm", "-rf", "x"]), Destructive);
    assert_eq!(class("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", &["ld.so", "--argv0", "ls", "/bin/ls"]), Write);
}

#[test]
fn shells_and_scripts() {
    assert_eq!(class("/usr/bin/bash", &["bash", "-c", "ls | head"]), Read);
    assert_eq!(class("/usr/bin/dash", &["sh", "-c", "rm -rf x"]), Destructive);
    assert_eq!(class("/usr/bin/bash", &["bash", "-lc", "git status"]), Read);
    assert_eq!(class("/usr/bin/bash", &["bash", "x.sh"]), Write);
    let input = Start { path: "/usr/bin/bash", argv: &["bash"], stdin: Stdin::Pipe, ..PLAIN };
    assert_eq!((assess(&input).class, assess(&input).text_seen), (Write, false));
    let script = |text, kernel| Start {
        path: "/usr/bin/bash",
        argv: &["bash", "/home/dev/proj/x.sh"],
        script: Some(Behind { kernel, ..behind("/home/dev/proj/x.sh", "/home/dev/proj/x.sh", text) }),
        ..PLAIN
    };
    assert_eq!(assess(&script(Some("#!/bin/bash\nls\n"), true)).class, Read);
    assert_eq!(assess(&script(Some("#!/bin/bash\nrm -rf x\n"), true)).class, Destructive);
    assert_eq!(assess(&script(None, true)).class, Write);
    assert!(assess(&script(Some("ls"), false)).text_seen);
    let python = Start {
        path: "/usr/bin/python3.11",
        argv: &["python3", "x.py"],
        script: Some(behind("x.py", "/home/dev/proj/x.py", Some("print(1)"))),
        ..PLAIN
    };
    assert_eq!(assess(&python).class, Write);
    assert_eq!(class("/usr/bin/node", &["node", "/usr/bin/npm", "install", "x"]), Install);
    assert_eq!(class("/usr/bin/env", &["env", "node", "x"]), Write);
    assert_eq!(class("/usr/bin/xargs", &["xargs", "-0", "grep", "-n", "def"]), Read);
    assert_eq!(class("/usr/bin/xargs", &["xargs", "rm", "-rf"]), Destructive);
}

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
fn files_of_the_agent_itself() {
    let line = |payload: &str, source: &str, sink: &str| {
        format!("source {source} 2>/dev/null || true && shopt -u extglob && eval '{payload}' < /dev/null && pwd -P >| {sink}")
    };
    let (source, sink) = ("/home/dev/.agent/snapshots/1.sh", "/tmp/agent-1f-cwd");
    let bash = |text: String| class("/usr/bin/bash", &["/bin/bash", "-c", &text]);
    assert_eq!(bash(line("git status | head", source, sink)), Read);
    assert_eq!(bash(line("git status", "~/.agent/snapshots/1.sh", sink)), Read);
    assert_eq!(bash(line("rm -rf build", source, sink)), Destructive);
    assert_eq!(bash(line("git status", "/home/dev/proj/1.sh", sink)), Write);
    assert_eq!(bash(line("git status", sink, sink)), Write, "what may be written is not sourced");
    assert_eq!(bash(line("git status", source, source)), Write, "what may be sourced is not written");
    assert_eq!(bash(line("git status", source, "/tmp/other")), Write);
    // In text alone nobody says which files those are.
    assert_eq!(SecurityPolicy::default().classify_command(&line("git status", source, sink)), Write);
}

#[test]
fn shells_that_read_a_text_in_another_way() {
    let text = "[[ -f x || rm ]]";
    assert_eq!(class("/usr/bin/bash", &["sh", "-c", text]), Read);
    assert_eq!(class("/usr/bin/dash", &["sh", "-c", text]), Write);
    assert_eq!(class("/usr/bin/busybox", &["sh", "-c", text]), Write);
    assert_eq!(class("/usr/bin/zsh", &["zsh", "-c", text]), Read);
    assert_eq!(class("/usr/bin/dash", &["sh", "-c", "[ -f x ] || ls"]), Read);
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

#[test]
fn the_environment_counts_where_it_differs() {
    let with =
        |environment: &'static [&'static str]| assess(&Start { path: "/usr/bin/git", argv: &["git", "log"], environment, ..PLAIN }).class;
    assert_eq!(with(&["HOME=/home/dev", "PAGER=less"]), Read);
    assert_eq!(with(&["PAGER=cat", "TERM=dumb"]), Read);
    assert_eq!(with(&["PAGER=rm -rf x"]), Destructive);
    assert_eq!(with(&["LD_PRELOAD=/tmp/x.so"]), Write);
    assert_eq!(with(&["HOME=/tmp"]), Write);
    assert_eq!(with(&["GIT_CONFIG_COUNT=1"]), Write);
    assert_eq!(with(&["BASH_FUNC_ls%%=() { rm x; }"]), Write);
    assert_eq!(with(&["NODE_OPTIONS=--require x"]), Read, "git does not read it");
}

#[test]
fn nothing_at_all_is_not_read() {
    assert!(class("/usr/bin/nosuch", &[]) >= Write);
    assert!(assess(&Start { path: "", argv: &["ls"], ..PLAIN }).class >= Write);
}

/// What a shell evaluates is judged by the environment that it was given.
#[test]
fn numbers_from_the_environment() {
    for (text, environment, expected) in [
        ("(( N > 1 )) && ls", &[][..], Read),
        ("(( N > 1 )) && ls", &["N=3"][..], Read),
        ("(( N > 1 )) && ls", &["N=a[$(id)]"][..], Write),
        ("[[ $N -gt 1 ]] && ls", &["N=x"][..], Write),
        ("echo ${a[N]}", &["N=-4"][..], Read),
        ("(( UID ))", &["UID=a[$(id)]"][..], Write),
        ("(( REPLY ))", &[][..], Write),
        ("(( $1 ))", &[][..], Write),
        ("read N; (( N ))", &[][..], Write),
        (": ${N:=$(cat f)}; (( N ))", &[][..], Write),
        ("(( N++ )); N=$(cat f)", &[][..], Write),
        ("trap 'N=$(cat f)' USR1; (( N ))", &[][..], Write),
        ("[[ x =~ (.*) ]]; (( BASH_REMATCH[1] ))", &[][..], Write),
        ("read -aN < f; (( N[0] ))", &[][..], Write),
        ("read -raN < f; (( N ))", &[][..], Write),
        ("read {N,M} < f; (( N ))", &[][..], Write),
        ("builtin read N < f; (( N ))", &[][..], Write),
        ("command -p read N < f; (( N ))", &[][..], Write),
        ("x=read; $x N < f; (( N ))", &[][..], Write),
        ("printf -vN %s \"$x\"; (( N ))", &[][..], Write),
        ("declare {N,M}=$(cat f); (( N ))", &[][..], Write),
        ("set -A N $(cat f); (( N[0] ))", &[][..], Write),
        ("declare -A a; k=$(cat f); echo ${a[$k]}", &[][..], Read),
        ("f() { declare -A a; }; k=$(cat f); echo ${a[$k]}", &[][..], Write),
        ("(declare -A a); k=$(cat f); echo ${a[$k]}", &[][..], Write),
        ("declare -A a; unset a; k=$(cat f); echo ${a[$k]}", &[][..], Write),
        ("k=$(cat f); echo ${a[$k]}; declare -A a", &[][..], Write),
        ("declare -A a; bash -c 'echo ${a[$1]}' x", &[][..], Write),
        ("(( SRANDOM ))", &["SRANDOM=a[0]"][..], Write),
    ] {
        let start = Start { path: "/usr/bin/bash", argv: &["bash", "-c", text], environment, ..PLAIN };
        assert_eq!(assess(&start).class, expected, "{text} with {environment:?}");
    }
}
