//! The exec-level judgement: names are believed only of files that are what they say.

use stayexec_policy::{Assessment, CommandClass, Exec, FileFacts, Places, ReasonCode, Script, SecurityPolicy, Stdin};

use CommandClass::{Destructive, Install, Network, Read, Write};

struct Start<'a> {
    path: &'a str,
    argv: &'a [&'a str],
    environment: &'a [&'a str],
    unchanged: bool,
    root_owned: bool,
    script: Option<(&'a str, Option<&'a str>, bool)>,
    stdin: Stdin,
}

const PLAIN: Start<'_> =
    Start { path: "/usr/bin/ls", argv: &["ls"], environment: &[], unchanged: true, root_owned: true, script: None, stdin: Stdin::Null };

fn owned(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

fn assess(start: &Start<'_>) -> Assessment {
    let (argv, environment, baseline) =
        (owned(start.argv), owned(start.environment), owned(&["HOME=/home/dev", "PAGER=less", "NODE_OPTIONS=--x"]));
    let (launch_path, temp, trust) = (owned(&["/usr/bin", "/home/dev/.cargo/bin"]), owned(&["/tmp"]), owned(&["/opt/tools"]));
    let places = Places { launch_path: &launch_path, trust_dirs: &trust, workspace: b"/home/dev/proj", temp: &temp, home: b"/home/dev" };
    let file = FileFacts {
        path: start.path.as_bytes(),
        root_owned: start.root_owned,
        chain_root_owned: start.root_owned,
        unchanged: start.unchanged,
        same_view: true,
        linker_trusted: true,
    };
    let script = start.script.map(|(path, text, kernel)| Script {
        path: path.as_bytes(),
        text: text.map(str::as_bytes),
        interpreted_by_kernel: kernel,
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
        script: Some(("/home/dev/proj/x.sh", text, kernel)),
        ..PLAIN
    };
    assert_eq!(assess(&script(Some("#!/bin/bash\nls\n"), true)).class, Read);
    assert_eq!(assess(&script(Some("#!/bin/bash\nrm -rf x\n"), true)).class, Destructive);
    assert_eq!(assess(&script(None, true)).class, Write);
    assert!(assess(&script(Some("ls"), false)).text_seen);
    let python = Start { path: "/usr/bin/python3.11", argv: &["python3", "x.py"], script: Some(("x.py", Some("print(1)"), true)), ..PLAIN };
    assert_eq!(assess(&python).class, Write);
    assert_eq!(class("/usr/bin/node", &["node", "/usr/bin/npm", "install", "x"]), Install);
    assert_eq!(class("/usr/bin/env", &["env", "node", "x"]), Write);
    assert_eq!(class("/usr/bin/xargs", &["xargs", "-0", "grep", "-n", "def"]), Read);
    assert_eq!(class("/usr/bin/xargs", &["xargs", "rm", "-rf"]), Destructive);
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
