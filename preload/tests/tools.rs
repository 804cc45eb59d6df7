//! The programs that agents use, as they are without the shim.

mod bench;

use bench::{Gate, cannot_run, err, out, run};
use stayexec_protocol::ask::Form;
use std::process::Command;

/// Runs the same without the shim, beside the floor and alone: the same output, the same end; alone, `least` asks.
#[track_caller]
fn same(program: &str, arguments: &[&str], least: usize) {
    if Command::new(program).arg("--version").output().is_err() {
        return cannot_run(&format!("no {program}"));
    }
    let bare = run(Command::new(program).args(arguments));
    assert!(bare.status.success(), "{program}: {}", err(&bare));
    for form in [Form::Beside, Form::Alone] {
        let gate = Gate::open(form);
        let shimmed = run(gate.command(program).args(arguments));
        assert_eq!((shimmed.status, out(&shimmed), err(&shimmed)), (bare.status, out(&bare), err(&bare)), "{program} {form:?}");
        if form == Form::Alone {
            assert!(gate.asks().len() >= least, "{program}: {:?}", gate.targets());
        }
    }
}

#[test]
fn bash() {
    same(
        "bash",
        &["--norc", "-c", "for i in 1 2 3; do /bin/echo $i | cat; done; x=$(date +%Y; ls /); (exec env A=1 true) && exec /bin/echo end"],
        11,
    );
}

#[test]
fn dash() {
    same("dash", &["-c", "/bin/echo a | /bin/cat && ls / > /dev/null; exec env true"], 4);
}

#[test]
fn python() {
    let text = "import subprocess, os, sys\n\
        print(subprocess.run(['echo', 'a'], capture_output=True).stdout, subprocess.check_output('echo b; ls /', shell=True)[:1])\n\
        print(subprocess.run(['echo', 'c'], preexec_fn=lambda: None, capture_output=True).stdout, os.system('exit 3'))\n\
        print(os.popen('/bin/echo d').read(), os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ), 0)[1]))\n\
        try: subprocess.run(['no-such-program'])\n\
        except FileNotFoundError as e: print(e.errno)\n\
        sys.stdout.flush()\n\
        os.execvp('echo', ['echo', 'end'])";
    same("/usr/bin/python3", &["-c", text], 8);
}

#[test]
fn node() {
    let text = "const c = require('child_process');\n\
        console.log(c.execSync('echo a; ls / | head -1').toString(), c.spawnSync('/bin/echo', ['b']).stdout.toString());\n\
        try { c.execFileSync('no-such-program') } catch (e) { console.log(e.code) }\n\
        c.exec('/bin/echo c', (e, out) => console.log(e, out));";
    same("node", &["-e", text], 4);
}

#[test]
fn make() {
    let folder = tempfile::tempdir().expect("a folder");
    let makefile = folder.path().join("Makefile");
    std::fs::write(&makefile, "all: a b\n\t@/bin/echo all\na b:\n\t@/bin/echo $@; /bin/true\n").expect("write");
    same("make", &["-s", "-j2", "-Otarget", "-f", &makefile.display().to_string(), "a"], 2);
}

#[test]
fn git() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display().to_string();
    let script = format!(
        "rm -rf {at}/r; git init -q {at}/r; cd {at}/r; echo a > f; git add f; \
         git -c user.name=a -c user.email=a@example.org commit -qm one; git --no-pager log --format=%s; git -c alias.x='!echo alias' x; git gc -q; git status --short"
    );
    same("bash", &["--norc", "-c", &script], 8);
}

#[test]
fn perl() {
    same("perl", &["-e", "print `/bin/echo a`; system('/bin/echo', 'b'); system('echo c; true'); exec 'echo', 'd'"], 3);
}

#[test]
fn gcc() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("a.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("write");
    same("gcc", &["-o", &folder.path().join("a").display().to_string(), &source.display().to_string()], 3);
}
