//! What reads start by themselves is quiet as well: filters, pagers, toolchains behind their launchers, with the variables
//! that are set for them. The same variables with other values, or for other programs, still count.

#[path = "common/start.rs"]
mod start;

use start::{Behind, PLAIN, Start, assess, behind};
use stayexec_policy::CommandClass::{self, Destructive, Network, Read, Write};

fn class(path: &str, argv: &[&str], environment: &[&str]) -> CommandClass {
    assess(&Start { path, argv, environment, root_owned: path.starts_with("/usr"), ..PLAIN }).class
}

#[test]
fn filters_of_archives() {
    for (path, argv) in [
        ("/usr/bin/gzip", &["gzip", "-d"][..]),
        ("/usr/bin/xz", &["xz", "-d"]),
        ("/usr/bin/bzip2", &["bzip2", "-d"]),
        ("/usr/bin/zstd", &["zstd", "-d"]),
        ("/usr/bin/gzip", &["gzip", "-c7"]),
        ("/usr/bin/gzip", &["gzip"]),
    ] {
        assert_eq!(class(path, argv, &[]), Read, "{argv:?}");
    }
    assert_eq!(class("/usr/bin/gzip", &["gzip", "-d", "x.gz"], &[]), Write);
    assert_eq!(class("/usr/bin/gzip", &["gzip", "-r"], &[]), Write);
}

#[test]
fn toolchains_behind_their_launchers() {
    let cargo = "/home/dev/.rustup/toolchains/stable/bin/cargo";
    let set = |libraries| {
        vec![
            libraries,
            "RUSTUP_TOOLCHAIN=stable-x86_64",
            "CARGO_HOME=/home/dev/.cargo",
            "RUSTUP_HOME=/home/dev/.rustup",
            "RUST_RECURSION_COUNT=1",
        ]
    };
    let own = set("LD_LIBRARY_PATH=/home/dev/.rustup/toolchains/stable/lib");
    assert_eq!(class(cargo, &[cargo, "--version"], &own), Read);
    assert_eq!(class(cargo, &[cargo, "metadata"], &own), Read);
    assert_eq!(class(cargo, &[cargo, "build"], &own), Write);
    for libraries in [
        "LD_LIBRARY_PATH=/home/dev/.rustup/toolchains/stable/lib:/tmp/x",
        "LD_LIBRARY_PATH=/home/dev/.rustup/toolchains/stable/lib:",
        "LD_LIBRARY_PATH=/home/dev/.rustup/toolchains/other/lib",
        "LD_LIBRARY_PATH=lib",
    ] {
        assert_eq!(class(cargo, &[cargo, "--version"], &set(libraries)), Write, "{libraries}");
    }
    assert_eq!(class(cargo, &[cargo, "--version"], &["CARGO_HOME=/tmp/x/.cargo"]), Write);
    assert_eq!(class("/usr/bin/git", &["git", "status"], &own[..1]), Write, "another program's libraries");
    let rustc = "/home/dev/.rustup/toolchains/stable/bin/rustc";
    let asks =
        [rustc, "-", "--crate-name", "___", "--print=file-names", "--crate-type", "bin", "--print=sysroot", "--print=cfg", "-Wwarnings"];
    assert_eq!(class(rustc, &asks, &own), Read);
    // Whoever could have put it there during the run.
    let changed = Start { path: cargo, argv: &[cargo, "--version"], root_owned: false, unchanged: false, ..PLAIN };
    assert_eq!(assess(&changed).class, Write);
}

#[test]
fn what_go_and_shells_set_for_their_children() {
    let go = |environment: &[&str]| class("/usr/lib/go-1.19/bin/go", &["go", "env", "GOMOD"], environment);
    assert_eq!(go(&["GOENV=/home/dev/.config/go/env", "GIT_SSH_COMMAND=ssh -o ControlMaster=no -o BatchMode=yes"]), Read);
    assert_eq!(go(&["GOENV=off"]), Read);
    assert_eq!(go(&["GOROOT=/usr/lib/go-1.19", "GOTOOLDIR=/usr/lib/go-1.19/pkg/tool/linux_amd64"]), Read);
    assert_eq!(go(&["CC=gcc", "CXX=g++", "CGO_CFLAGS=-g -O2", "CGO_ENABLED=1", "GOAUTH=netrc"]), Read);
    assert_eq!(go(&["CC=./x"]), Write);
    assert_eq!(go(&["CGO_LDFLAGS=-Wl,-o,x"]), Write);
    assert_eq!(go(&["GOROOT=/usr/lib/go-1.19/../../../tmp/x"]), Write);
    assert_eq!(go(&["GOTOOLDIR=/tmp/x"]), Write);
    assert_eq!(go(&["GOENV=/tmp/x/go/env"]), Write);
    let git = |environment: &[&str]| class("/usr/bin/git", &["git", "status", "--porcelain"], environment);
    assert_eq!(git(&["GIT_SSH_COMMAND=ssh -o ControlMaster=no -o BatchMode=yes"]), Read);
    assert_eq!(git(&["GIT_SSH_COMMAND=sh -c 'touch x'"]), Write);
    assert_eq!(git(&["GIT_SSH_COMMAND=rm -r x"]), Destructive);
    assert_eq!(class("/usr/bin/git", &["git", "fetch"], &["GIT_SSH_COMMAND=ssh"]), Network);
    assert_eq!(class("/usr/bin/ls", &["ls"], &["IFS=\n"]), Read, "no shell takes it from there");
    assert_eq!(class("/usr/bin/zsh", &["zsh", "-c", "ls"], &["IFS=x"]), Read);
}

#[test]
fn pagers_and_what_git_and_man_set() {
    let less = |environment: &[&str]| class("/usr/bin/less", &["less"], environment);
    assert_eq!(less(&["LESS=FRX", "LV=-c", "GIT_EXEC_PATH=/usr/lib/git-core"]), Read);
    assert_eq!(less(&["LESS=FRSXMK", "LESSCHARSET=utf-8", "LESSSECURE=1"]), Read);
    assert_eq!(less(&["LESS=-ix8RmPm Manual page ls(1) ?ltline %lt$PM x$"]), Read);
    assert_eq!(less(&["LESS=-o/tmp/x"]), Write);
    assert_eq!(less(&["LESS=-ix8PmX$-Tx"]), Write);
    assert_eq!(less(&["LESSOPEN=|/bin/bash -c gzip -cdfq -- %s"]), Read, "bash takes only its first word");
    assert_eq!(less(&["LESSOPEN=||-/usr/bin/lesspipe %s"]), Read);
    assert_eq!(less(&["LESSOPEN=|rm -r %s"]), Destructive);
    assert_eq!(class("/usr/bin/sed", &["sed", "-e", "s/a/b/"], &["GIT_EXEC_PATH=/tmp/x"]), Read);
    assert_eq!(class("/usr/bin/git", &["git", "status"], &["GIT_EXEC_PATH=/tmp/x"]), Write);
    assert_eq!(class("/usr/bin/git", &["git", "status"], &["GIT_EXEC_PATH=/usr/lib/git-core"]), Read);
    let groff = ["GROFF_NO_SGR=1", "GROFF_BIN_PATH=/usr/bin", "MANPATH=/usr/share/man", "MAN_PN=ls(1)"];
    assert_eq!(class("/usr/bin/col", &["col", "-b", "-p", "-x"], &groff), Read);
    assert_eq!(class("/usr/bin/troff", &["troff", "-mandoc", "-Tutf8"], &groff), Read);
    assert_eq!(class("/usr/bin/groff", &["groff", "-Tutf8"], &["GROFF_BIN_PATH=/tmp/x"]), Write);
    assert_eq!(class("/usr/bin/man", &["man", "ls"], &["MANPATH=/tmp/x"]), Write);
    let compiles = ["gcc", "-fno-caret-diagnostics", "-c", "-x", "c", "-", "-o", "/dev/null"];
    let ssh = ["GIT_SSH_COMMAND=ssh -o ControlMaster=no -o BatchMode=yes"];
    assert_eq!(class("/usr/bin/x86_64-linux-gnu-gcc-12", &compiles, &ssh), Read);
    assert!(class("/usr/bin/git", &["git", "status"], &["GIT_SSH_COMMAND=rm -r x"]) > Write);
}

#[test]
fn scripts_that_start_the_program_of_their_name() {
    let perl = |script, word: &'static str| {
        let argv: Vec<&str> = ["/usr/bin/perl", script].into_iter().chain(word.split(' ')).collect();
        let file = behind(script, "/usr/share/postgresql-common/pg_wrapper", Some("exec @ARGV"));
        assess(&Start { path: "/usr/bin/perl", argv: &argv, script: Some(file), ..PLAIN }).class
    };
    assert_eq!(perl("/usr/bin/psql", "-l"), Read);
    assert_eq!(perl("/usr/bin/pg_isready", "-q"), Read);
    assert_eq!(perl("/usr/bin/dropdb", "x"), Destructive);
    assert_eq!(perl("/usr/bin/nosuch", "-l"), Write);
    let psql = "/usr/lib/postgresql/15/bin/psql";
    assert_eq!(class(psql, &[psql, "-c", "select 1"], &["PGSYSCONFDIR=/etc/postgresql-common"]), Read);
    assert_eq!(class(psql, &[psql, "-c", "select 1"], &["PGSYSCONFDIR=/tmp/x"]), Write);
}

#[test]
fn launchers_of_versions() {
    let script = |unchanged| {
        let path = "/home/dev/.pyenv/libexec/pyenv";
        let file = Behind { unchanged, ..behind(path, path, Some("exec \"$@\"")) };
        let argv = ["/usr/bin/env", "bash", path, "exec", "python3", "--version"];
        assess(&Start { path: "/usr/bin/env", argv: &argv, script: Some(file), ..PLAIN }).class
    };
    assert_eq!(script(true), Read);
    assert_eq!(script(false), Write);
}
