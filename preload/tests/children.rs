//! Where hooks run that must not do much: children of vfork, forks of threaded processes, signal handlers.

mod bench;

use bench::{Gate, Libc, err, fixture, libcs, out, run};
use stayexec_protocol::ask::{Entry, Form};
use std::time::Duration;

#[test]
fn a_child_of_vfork_leaves_nothing_in_its_parent() {
    for libc in libcs() {
        for form in [Form::Beside, Form::Alone] {
            for more in [&["50"][..], &["50", "execlp"]] {
                let bare = out(&run(std::process::Command::new(fixture("vfork", libc)).args(more)));
                assert!(bare.starts_with("status 0 errno ") && bare.ends_with(" mark 1 fds 0 maps 0\n"), "{bare}");
                let gate = Gate::open(form);
                let output = run(gate.command(fixture("vfork", libc)).args(more));
                assert_eq!(out(&output), bare, "{libc:?} {form:?}: {}", err(&output));
            }
        }
    }
}

#[test]
fn a_refused_child_of_vfork_ends_by_itself() {
    for libc in libcs() {
        let gate = Gate::judging(Form::Alone, |_| Some("stayexec: denied".into()));
        let output = run(gate.command(fixture("vfork", libc)).args(["3"]));
        // As after any exec that fails in the shared memory, the parent sees the errno.
        assert_eq!(out(&output), "status 99 errno 1 mark 1 fds 0 maps 0\n", "{libc:?}");
        assert_eq!(err(&output), "stayexec: denied\n".repeat(3));
    }
}

#[test]
fn forks_of_a_threaded_process_never_hang() {
    for libc in libcs() {
        for form in [Form::Beside, Form::Alone] {
            let gate = Gate::open(form);
            let output = run(&mut gate.command(fixture("threads", libc)));
            assert_eq!(out(&output), "failed 0\n", "{libc:?} {form:?}: {}", err(&output));
            if form == Form::Alone {
                assert_eq!(gate.asks().len(), 400);
            }
        }
    }
}

#[test]
fn a_signal_handler_may_execute_and_little_stack_is_used() {
    for libc in libcs() {
        let gate = Gate::open(Form::Alone);
        assert_eq!(out(&run(&mut gate.command(fixture("handler", libc)))), "from a handler\n");
        let gate = Gate::judging(Form::Alone, |_| Some("x".repeat(5000)));
        let output = run(&mut gate.command(fixture("handler", libc)));
        assert!(out(&output).starts_with("result -1 errno 1 used "), "{}", out(&output));
        assert_eq!(err(&output).len(), 1025, "the line is cut");
        let used: usize = out(&output).split(' ').nth(5).and_then(|n| n.parse().ok()).expect("a number");
        println!("{libc:?}: {used} bytes of stack from the handler's frame down");
        assert!(used < 8192, "{libc:?}: {used}");
    }
}

#[test]
fn a_storm_of_signals_is_one_question() {
    for libc in libcs() {
        let gate = Gate::judging(Form::Alone, |_| {
            std::thread::sleep(Duration::from_millis(200));
            Some("stayexec: denied".into())
        });
        let output = run(gate.command(fixture("handler", libc)).arg("storm"));
        assert!(out(&output).starts_with("result -1 errno 1") && out(&output).ends_with("ticks 1\n"), "{}", out(&output));
        assert_eq!(gate.asks().len(), 1);
    }
}

#[test]
fn words_that_change_while_they_are_told_end_in_an_answer() {
    for form in [Form::Beside, Form::Alone] {
        let gate = Gate::open(form);
        let output = run(&mut gate.command(fixture("flip", Libc::Glibc)));
        let said = out(&output);
        let words: Vec<&str> = said.split_whitespace().collect();
        let count = |n: usize| words.get(n).and_then(|word| word.parse::<usize>().ok()).expect("a number");
        println!("{form:?}: {said}");
        // Every call came back: with the kernel's answer, or refused because what was told was torn.
        assert_eq!(count(1) + count(3), 1000, "{said}");
        assert!(form == Form::Alone || count(3) == 0, "{said}");
        assert!(err(&output).lines().all(|line| line.starts_with("stayexec: denied: the ")), "{}", err(&output));
    }
}

#[test]
fn a_thread_can_be_cancelled_inside_system() {
    for form in [Form::Beside, Form::Alone] {
        let gate = Gate::open(form);
        let output = run(&mut gate.command(fixture("cancel", Libc::Glibc)));
        assert_eq!(out(&output), "cleaned cancelled\n", "{}", err(&output));
        assert!(gate.asks().iter().any(|ask| ask.head.entry == Entry::System));
    }
}

#[test]
fn a_gate_that_goes_away_refuses() {
    use std::os::unix::net::UnixListener;
    let gate = Gate::absent(Form::Alone);
    let listener = UnixListener::bind(gate.socket()).expect("bind");
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let output = run(gate.command(fixture("entries", Libc::Glibc)).arg("execv"));
    assert_eq!(out(&output), "execv -1 errno 1\n");
    assert!(err(&output).starts_with("stayexec: denied: the gate "), "{}", err(&output));
}

#[test]
fn an_answer_that_is_not_understood_refuses() {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;
    for answer in [&[2, 0, 0, 0, 2, 2][..], &[2, 0, 0, 0, 1, 0], &[3, 0, 0, 0, 2, 0, 0], &[0xff; 64], &[2, 0, 0, 0, 2]] {
        let gate = Gate::absent(Form::Alone);
        let listener = UnixListener::bind(gate.socket()).expect("bind");
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let mut frame = [0; 4096];
                let _ = connection.read(&mut frame);
                let _ = connection.write_all(answer);
            }
        });
        let output = run(gate.command(fixture("entries", Libc::Glibc)).env_clear().envs(small(&gate)).arg("execv"));
        assert_eq!(out(&output), "execv -1 errno 1\n", "{answer:?}");
        assert!(err(&output).starts_with("stayexec: denied: the gate"), "{answer:?} {}", err(&output));
    }
}

/// An environment that one read takes in.
fn small(gate: &Gate) -> Vec<(String, String)> {
    let command = gate.command("x");
    let told = |name: &str| command.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value).expect("set");
    ["LD_PRELOAD", "STAYEXEC_ASK", "STAYEXEC_SHIM"].map(|name| (name.to_owned(), told(name).to_string_lossy().into_owned())).to_vec()
}

#[test]
fn a_closed_or_full_standard_error_delays_nothing() {
    let gate = Gate::judging(Form::Alone, |_| Some("stayexec: denied".into()));
    let program = fixture("entries", Libc::Glibc);
    for script in [
        "exec 2>&-; $P execv; echo $?",
        "{ $P execv; echo $? >&3; } 3>&1 2>&1 >/dev/null | true; :",
        "mkfifo $D/full; exec 8<>$D/full; head -c 65536 /dev/zero >&8; $P execv 2>&8; echo $?",
    ] {
        let mut command = std::process::Command::new("bash");
        command.args([
            "-c",
            &format!(
                "P='env LD_PRELOAD={} STAYEXEC_ASK={} {}'; D={}; {script}",
                gate.library().display(),
                gate.socket().display(),
                program.display(),
                gate.folder().display()
            ),
        ]);
        let begun = std::time::Instant::now();
        let output = run(&mut command);
        assert!(begun.elapsed() < Duration::from_secs(5), "{script}");
        assert!(output.status.success() && !out(&output).contains("ran"), "{script}: {} {}", out(&output), err(&output));
        assert!(out(&output).ends_with("0\n") || script.ends_with(':'), "{script}: {} {}", out(&output), err(&output));
    }
}
