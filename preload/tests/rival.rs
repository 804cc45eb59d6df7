//! Beside another library that hooks the same names (made with redhook), in both orders: both see the call, each once, and
//! the refusal holds.
#![cfg(target_env = "gnu")]

mod bench;

use bench::{Gate, Libc, err, fixture, out, run};
use stayexec_protocol::ask::Form;
use std::path::PathBuf;
use std::process::Command;

/// The other library. Cargo makes examples before it runs all tests, and is asked for it where it did not.
fn rival() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let profile = program.ancestors().nth(2).expect("deps lies in a profile's folder");
    let library = profile.join("examples/librival.so");
    if !library.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "-q", "-p", "stayexec-preload", "--example", "rival", "--target-dir"]).arg(profile.parent().expect("target"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().is_ok_and(|status| status.success()), "cannot build the other library");
    }
    library
}

fn lists(gate: &Gate) -> [String; 2] {
    let (own, rival) = (gate.library(), rival());
    [format!("{}:{}", own.display(), rival.display()), format!("{}:{}", rival.display(), own.display())]
}

#[test]
fn both_see_each_call_once() {
    for (entry, target) in [("execve", "/bin/echo"), ("execvp", "echo"), ("system", "/bin/echo ran; exit 3")] {
        for form in [Form::Beside, Form::Alone] {
            for order in 0..2 {
                let gate = Gate::open(form);
                let log = gate.folder().join("log");
                let list = &lists(&gate)[order];
                let output = run(gate.command(fixture("entries", Libc::Glibc)).env("LD_PRELOAD", list).env("RIVAL_LOG", &log).arg(entry));
                assert!(out(&output).contains("ran") && err(&output).is_empty(), "{list} {entry}: {} {}", out(&output), err(&output));
                let seen = std::fs::read_to_string(&log).expect("the other library's log");
                // What becomes the agent takes the shim along: the shim before it names an environment.
                let name = if (entry, form, order) == ("execvp", Form::Beside, 0) { "execvpe" } else { entry };
                assert_eq!(seen.lines().next(), Some(format!("{name} {target}").as_str()), "{list}");
                assert_eq!(seen.matches(&format!("{name} {target}\n")).count(), 1, "{list}: {seen}");
                let _ = gate.ask_at(stayexec_protocol::ask::Entry::ALL.into_iter().find(|e| e.as_str() == entry).expect("an entry"));
                assert_eq!(gate.targets().iter().filter(|t| *t == target).count(), 1, "{list}: {:?}", gate.targets());
            }
        }
    }
}

#[test]
fn a_refusal_holds_in_both_orders() {
    for entry in ["execve", "execvp", "system"] {
        for order in 0..2 {
            let gate = Gate::judging(Form::Alone, |_| Some("stayexec: denied".into()));
            let list = &lists(&gate)[order];
            let output = run(gate.command(fixture("entries", Libc::Glibc)).env("LD_PRELOAD", list).arg(entry));
            assert!(!out(&output).contains("ran"), "{list} {entry}: {}", out(&output));
            assert_eq!(err(&output), "stayexec: denied\n", "{list} {entry}");
        }
    }
}

#[test]
fn what_is_started_has_both_and_the_shim_first() {
    for order in 0..2 {
        let gate = Gate::open(Form::Alone);
        let lists = lists(&gate);
        let mut command = gate.command("/bin/bash");
        command.env("LD_PRELOAD", &lists[order]).args(["--norc", "-c", "/bin/sh -c 'echo $LD_PRELOAD'; :"]);
        assert_eq!(out(&run(&mut command)).trim_end(), lists[0]);
    }
}
