//! Each of the thirteen entries, of each C library: told, waited for, refused, with the errors of the C library.

mod bench;

use bench::gate::Heard;
use bench::{Gate, Libc, err, fixture, libcs, out, run};
use stayexec_protocol::ask::{Entry, Form, flag};

const WORDS: [&str; 11] = ["echo", "ran", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const RAN: &str = "ran 1 2 3 4 5 6 7 8 9\n";
const LINE: &str = "/bin/echo ran; exit 3";

fn words(argv: &[Vec<u8>]) -> Vec<String> {
    argv.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// What the fixture says without the shim.
fn without(libc: Libc, entry: Entry) -> String {
    if libc == Libc::Musl && entry == Entry::Execveat {
        return RAN.into(); // Only the shim has it there.
    }
    out(&run(std::process::Command::new(fixture("entries", libc)).arg(entry.as_str())))
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn each(form: Form, mut look: impl FnMut(&Gate, Libc, Entry)) {
    for libc in libcs() {
        for entry in Entry::ALL {
            let gate = Gate::open(form);
            let output = run(gate.command(fixture("entries", libc)).arg(entry.as_str()));
            let told = out(&output);
            // The child of posix_spawn may be faster than its parent's line, or slower.
            assert!(
                told.contains("ran") && sorted(&told) == sorted(&without(libc, entry)),
                "{libc:?} {}: {told:?} {:?}",
                entry.as_str(),
                err(&output)
            );
            assert_eq!(err(&output), "", "{libc:?} {}", entry.as_str());
            look(&gate, libc, entry);
        }
    }
}

fn check_words(gate: &Gate, libc: Libc, entry: Entry) {
    let ask = gate.ask_at(entry);
    let name = format!("{libc:?} {}", entry.as_str());
    let target = match entry {
        _ if entry.takes_line() => LINE,
        _ if entry.searches() => "echo",
        Entry::Fexecve => "",
        _ => "/bin/echo",
    };
    assert_eq!(String::from_utf8_lossy(&ask.target), target, "{name}");
    assert_eq!(words(&ask.argv), if entry.takes_line() { vec![] } else { WORDS.to_vec() }, "{name}");
    assert_eq!(ask.head.flags & flag::CUT, 0, "{name}");
    assert_eq!(ask.head.flags & flag::ACTIONS != 0, matches!(entry, Entry::PosixSpawn | Entry::PosixSpawnp), "{name}");
    let path = std::env::var("PATH").expect("PATH");
    assert_eq!(String::from_utf8_lossy(&ask.search), if entry.searches() { path.as_str() } else { "" }, "{name}");
    match entry {
        Entry::Fexecve => assert!(ask.head.descriptor > 2, "{name}"),
        Entry::Execveat => assert_eq!(ask.head.descriptor, libc::AT_FDCWD, "{name}"),
        _ => assert_eq!(ask.head.descriptor, -1, "{name}"),
    }
    assert!(ask.head.site > 0x1000, "{name}");
}

#[test]
fn beside_the_floor_each_entry_tells_and_goes_on() {
    each(Form::Beside, |gate, libc, entry| {
        check_words(gate, libc, entry);
        let ask = gate.ask_at(entry);
        assert_eq!(ask.head.flags & (flag::WAITS | flag::ENVIRONMENT), 0);
        assert_eq!(ask.environment.len(), 0);
        // What the agent becomes has the shim, and what it starts has not.
        gate.expect(if entry.replaces() { 2 } else { 1 }, 1);
    });
}

#[test]
fn alone_each_entry_waits_and_what_it_starts_stands_behind_the_shim_too() {
    each(Form::Alone, |gate, libc, entry| {
        check_words(gate, libc, entry);
        let ask = gate.ask_at(entry);
        assert_eq!(ask.head.flags & (flag::WAITS | flag::ENVIRONMENT), flag::WAITS | flag::ENVIRONMENT);
        let preload = format!("LD_PRELOAD={}", gate.library().display());
        assert!(words(&ask.environment).contains(&preload), "{libc:?} {}", entry.as_str());
        // The fixture and echo; the shell of a line, which asks for its echo.
        if entry.takes_line() { gate.expect(3, 2) } else { gate.expect(2, 1) }
    });
}

#[test]
fn alone_a_refusal_is_the_functions_own_error_with_one_line() {
    for libc in libcs() {
        for entry in Entry::ALL {
            let gate = Gate::judging(Form::Alone, |ask| Some(format!("stayexec: denied (write): {}", ask.head.entry.as_str())));
            let output = run(gate.command(fixture("entries", libc)).arg(entry.as_str()));
            let name = entry.as_str();
            let told = match entry {
                Entry::System => format!("system {} errno 42\n", 126 << 8),
                Entry::PosixSpawn | Entry::PosixSpawnp => format!("pid -7 {name} 1 errno 42\n"),
                _ => format!("{name} -1 errno 1\n"),
            };
            assert_eq!(out(&output), told, "{libc:?}");
            assert_eq!(err(&output), format!("stayexec: denied (write): {name}\n"), "{libc:?}");
            assert_eq!(gate.asks().len(), 1, "{libc:?} {name}");
        }
    }
}

#[test]
fn alone_without_a_gate_nothing_starts() {
    for entry in Entry::ALL {
        let gate = Gate::absent(Form::Alone);
        let output = run(gate.command(fixture("entries", Libc::Glibc)).arg(entry.as_str()));
        assert!(!out(&output).contains("ran"), "{}: {}", entry.as_str(), out(&output));
        assert_eq!(err(&output), "stayexec: denied: the gate cannot be reached; nothing can be started without it\n");
    }
}

#[test]
fn beside_the_floor_a_missing_gate_changes_nothing() {
    for entry in Entry::ALL {
        let gate = Gate::absent(Form::Beside);
        let output = run(gate.command(fixture("entries", Libc::Glibc)).arg(entry.as_str()));
        assert!(out(&output).contains("ran"), "{}", entry.as_str());
        assert_eq!(err(&output), "");
    }
}

#[test]
fn over_an_inherited_descriptor_each_caller_has_its_own_conversation() {
    for libc in libcs() {
        let gate = Gate::inherited(Form::Alone, |_| None);
        let output = run(gate.command(fixture("entries", libc)).arg("system"));
        assert_eq!(out(&output), "ran\nsystem 768 errno 42\n", "{}", err(&output));
        // The line, and the shell's echo.
        assert_eq!(gate.targets(), [LINE, "/bin/echo"]);
        let pids: Vec<u32> = gate.heard().iter().filter_map(|h| if let Heard::Ask(pid, _) = h { Some(*pid) } else { None }).collect();
        assert_ne!(pids[0], pids[1]);
        let gate = Gate::inherited(Form::Alone, |_| Some("stayexec: denied".into()));
        let output = run(gate.command(fixture("entries", libc)).arg("execl"));
        assert_eq!((out(&output).as_str(), err(&output).as_str()), ("execl -1 errno 1\n", "stayexec: denied\n"));
    }
}

#[test]
fn the_errors_are_the_c_librarys() {
    for libc in libcs() {
        let bare = |target: &str, entry: Entry| {
            run(std::process::Command::new(fixture("entries", libc)).env("TARGET", target).arg(entry.as_str()))
        };
        for entry in Entry::ALL.into_iter().filter(|e| !e.takes_line() && *e != Entry::Fexecve) {
            if libc == Libc::Musl && entry == Entry::Execveat {
                continue; // Only the shim has it there.
            }
            for target in ["/nowhere/x", "/etc/passwd", "/etc/passwd/x", "/etc", "", "nothing-of-this-name"] {
                let gate = Gate::open(Form::Alone);
                let shimmed = run(gate.command(fixture("entries", libc)).env("TARGET", target).arg(entry.as_str()));
                assert_eq!(out(&shimmed), out(&bare(target, entry)), "{libc:?} {} {target:?}", entry.as_str());
                assert_eq!(gate.targets(), [target]);
            }
        }
    }
}

#[test]
fn the_call_site_is_the_callers() {
    for libc in libcs() {
        let gate = Gate::open(Form::Alone);
        let output = run(gate.command(fixture("entries", libc)).arg("sites"));
        let said = out(&output);
        let range: Vec<u64> = said.split_whitespace().map(|n| n.parse().expect("a number")).collect();
        for entry in Entry::ALL {
            let site = gate.ask_at(entry).head.site;
            assert!((range[0]..range[1]).contains(&site), "{libc:?} {}: {site:x} {range:x?}", entry.as_str());
        }
        assert_eq!(gate.asks().len(), 13);
    }
}

#[test]
fn vectors_of_every_size() {
    for libc in libcs() {
        let gate = Gate::open(Form::Alone);
        let program = fixture("entries", libc);
        for (word, said) in [
            ("execl-short", "\n"),
            ("execl-four", "a b c\n"),
            ("execl-five", "a b c d\n"),
            ("many", ""),
            ("mebibyte", ""),
            ("null-vectors", ""),
            ("empty-argv", ""),
        ] {
            let output = run(gate.command(&program).arg(word));
            assert_eq!((out(&output).as_str(), output.status.code()), (said, Some(0)), "{libc:?} {word}: {}", err(&output));
        }
        let counts: Vec<usize> = gate.asks().iter().map(|ask| ask.argv.len()).collect();
        assert_eq!(counts, [1, 4, 5, 5001, 11, 0, 0]);
        assert!(gate.asks()[4].argv.iter().zip(b'a'..).all(|(word, byte)| word.len() == 100_000 && word.iter().all(|b| *b == byte)));
        // An environment that is empty is told as it is.
        assert_eq!(gate.asks()[5].environment.len(), 0);
        assert_eq!(out(&run(gate.command(&program).arg("too-big"))), "execv -1 errno 7\n");
        assert_eq!(out(&run(gate.command(&program).arg("null-path"))), "execve -1 errno 14\n");
        assert_eq!(out(&run(gate.command(&program).arg("system-null"))), "system 1 errno 42\n");
        assert_eq!(gate.asks().len(), counts.len());
    }
}

#[test]
fn beside_the_floor_long_words_are_cut_and_the_cut_is_told() {
    let gate = Gate::open(Form::Beside);
    run(gate.command(fixture("entries", Libc::Glibc)).arg("many"));
    let ask = gate.ask_at(Entry::Execv);
    assert!(ask.argv.len() == 5001 && ask.head.flags & flag::CUT == 0);
    let gate = Gate::open(Form::Beside);
    run(gate.command(fixture("entries", Libc::Glibc)).arg("mebibyte"));
    let ask = gate.ask_at(Entry::Execv);
    assert!(ask.argv.is_empty() && ask.head.flags & flag::CUT != 0);
}
