//! The exec-level judgement: names are believed only of files that are what they say.

#[path = "common/start.rs"]
mod start;

use stayexec_policy::{CommandClass, ReasonCode, SecurityPolicy, Stdin};

use CommandClass::{Destructive, Install, Network, Read, Write};
use start::{Behind, PLAIN, Start, assess, behind};

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
    // A module may lie in the working directory.
    assert_eq!(class("/usr/bin/python3.11", &["python3", "-m", "json.tool", "x"]), Write);
    assert_eq!(class("/usr/bin/python3.11", &["python3", "-I", "-m", "json.tool", "x"]), Read);
    assert_eq!(class("/usr/bin/python3.11", &["python3", "-I", "-m", "json.tool", "x", "y"]), Write);
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

/// A link's name is in `argv[0]` alone: the file that it leads to is another.
#[test]
fn files_that_are_several_programs() {
    for (path, argv, expected) in [
        ("/usr/bin/pgrep", &["pgrep", "-f", "node"][..], Read),
        ("/usr/bin/pgrep", &["/usr/bin/pkill", "-f", "node"], Write),
        ("/usr/bin/pgrep", &["pkill"], Write),
        ("/usr/bin/pgrep", &["pidwait", "node"], Write),
        ("/usr/bin/pgrep", &["nosuch", "node"], Write),
        ("/usr/bin/pgrep", &[], Write),
        ("/usr/bin/systemctl", &["systemctl", "status"], Read),
        ("/usr/bin/systemctl", &["reboot"], Destructive),
        ("/usr/bin/systemctl", &["/sbin/poweroff"], Destructive),
        ("/usr/bin/systemctl", &["halt", "-f"], Destructive),
        ("/usr/bin/systemctl", &["telinit", "6"], Destructive),
        ("/usr/bin/systemctl", &["runlevel"], Read),
        ("/usr/bin/systemctl", &["status"], Write),
        ("/home/dev/.cargo/bin/rustup", &["rustup", "show"], Read),
        ("/home/dev/.cargo/bin/rustup", &["rustup", "update"], Install),
        ("/home/dev/.cargo/bin/rustup", &["cargo", "check"], Write),
        ("/home/dev/.cargo/bin/rustup", &["cargo", "update"], Install),
        ("/home/dev/.cargo/bin/rustup", &["cargo", "tree"], Read),
        ("/home/dev/.cargo/bin/rustup", &["rustc", "--print", "sysroot"], Read),
        ("/home/dev/.cargo/bin/rustup", &["show"], Write),
        ("/usr/sbin/xtables-nft-multi", &["iptables", "-F"], Destructive),
        ("/usr/sbin/xtables-nft-multi", &["iptables-save"], Read),
        ("/usr/sbin/xtables-nft-multi", &["ip6tables-restore"], Destructive),
        ("/sbin/lvm", &["lvs"], Read),
        ("/sbin/lvm", &["lvremove", "vg/lv"], Destructive),
        ("/usr/bin/kmod", &["lsmod"], Read),
        ("/usr/bin/kmod", &["modinfo", "ext4"], Read),
        ("/usr/bin/kmod", &["rmmod", "ext4"], Destructive),
        ("/usr/bin/kmod", &["insmod", "x.ko"], Destructive),
        ("/usr/bin/xz", &["xzcat", "x.xz"], Read),
        ("/usr/bin/xz", &["unxz", "x.xz"], Write),
        ("/usr/bin/zstd", &["zstdcat", "x.zst"], Read),
        ("/usr/bin/unzip", &["zipinfo", "x.zip"], Read),
        ("/usr/bin/zipinfo", &["unzip", "x.zip"], Write),
        ("/usr/bin/zipinfo", &["nosuch", "x.zip"], Write),
        ("/usr/bin/bzcat", &["nosuch", "x.bz2"], Write),
        ("/usr/sbin/killall5", &["pidof", "-s", "bash"], Read),
        ("/usr/sbin/killall5", &["killall5"], Write),
        ("/usr/bin/tset", &["reset"], Read),
        ("/usr/bin/at", &["atq"], Read),
        ("/usr/bin/at", &["atrm", "1"], Write),
        ("/usr/bin/nix", &["nix-collect-garbage", "list"], Destructive),
        ("/usr/bin/busybox", &["-sh", "-c", "ls"], Read),
        // No family: what either name says counts.
        ("/usr/bin/cat", &["rm", "-r", "x"], Destructive),
        ("/usr/bin/cat", &["nosuch", "x"], Read),
        ("/usr/bin/env", &["env", "-a", "rm", "busybox", "ls", "-r", "x"], Destructive),
        ("/usr/bin/env", &["env", "--argv0=pkill", "pgrep", "node"], Write),
    ] {
        assert_eq!(class(path, argv), expected, "{path} {argv:?}");
    }
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

/// A word of the environment is what it is there, unless something may have changed it since.
#[test]
fn words_from_the_environment() {
    for (text, environment, expected) in [
        ("git log -1 \"$BRANCH\"", &["BRANCH=HEAD"][..], Read),
        ("find \"$DIR\" -name x", &["DIR=src"][..], Read),
        ("psql \"$URL\" -c 'select 1'", &["URL=postgres://h/d"][..], Network),
        ("find \"$DIR\" -name x", &["DIR=-delete"][..], Write),
        ("find $DIR -name x", &["DIR=. -delete"][..], Write),
        ("find \"$DIR\" -name x", &[][..], Write),
        ("read DIR < f; find \"$DIR\" -name x", &["DIR=src"][..], Write),
        ("eval \"$(cat f)\"; find \"$DIR\" -name x", &["DIR=src"][..], Write),
        ("read \"$v\" < f; find \"$DIR\" -name x", &["DIR=src", "v=DIR"][..], Write),
        ("env DIR=-delete bash -c 'find . \"$DIR\"'", &["DIR=src"][..], Write),
        ("DIR=-delete; find . \"$DIR\"", &["DIR=src"][..], Destructive),
    ] {
        let start = Start { path: "/usr/bin/bash", argv: &["bash", "-c", text], environment, ..PLAIN };
        assert_eq!(assess(&start).class, expected, "{text} with {environment:?}");
    }
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
