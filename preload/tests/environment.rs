//! What the shim does to environments, and what it does not.

mod bench;

use bench::{Gate, Libc, err, fixture, libcs, out, run};
use stayexec_protocol::ask::{Entry, FORM_VARIABLE, Form};
use std::process::Command;

/// Runs bash with `text` behind `gate`.
fn bash(gate: &Gate, text: &str) -> std::process::Output {
    let output = run(gate.command("/bin/bash").args(["--norc", "-c", text]));
    assert_eq!(err(&output), "", "{text}");
    output
}

#[test]
fn an_environment_that_was_emptied_or_stripped_is_repaired() {
    for text in [
        "env -i /bin/sh -c '/bin/echo a; :'; :",
        "env -i A=1 /bin/sh -c '/bin/echo a; :'; :",
        "unset LD_PRELOAD; /bin/sh -c '/bin/echo a; :'; :",
        "unset LD_PRELOAD STAYEXEC_ASK STAYEXEC_SHIM; /bin/sh -c '/bin/echo a; :'; :",
        "LD_PRELOAD= /bin/sh -c '/bin/echo a; :'; :",
        "STAYEXEC_ASK=/nowhere STAYEXEC_SHIM=beside /bin/sh -c '/bin/echo a; :'; :",
        "export STAYEXEC_SHIM=off; /bin/sh -c '/bin/echo a; :'; :",
    ] {
        let gate = Gate::open(Form::Alone);
        let output = bash(&gate, text);
        assert_eq!(out(&output), "a\n", "{text}");
        let seen = gate.targets();
        // An environment that env -i has really emptied stays so: its program has no shim, and cannot be asked for echo.
        let emptied = text.starts_with("env -i /");
        assert_eq!(seen.iter().any(|t| t == "/bin/echo"), !emptied, "{text}: {seen:?}");
        assert!(seen.iter().any(|t| t == "/bin/sh"), "{text}: {seen:?}");
    }
}

#[test]
fn a_program_cannot_change_the_form_or_the_address_of_its_own_shim() {
    for libc in libcs() {
        let gate = Gate::judging(Form::Alone, |ask| (ask.target == b"/bin/echo").then(|| "stayexec: denied".into()));
        let output = run(gate.command(fixture("own", libc)).arg(gate.folder()));
        assert_eq!(out(&output), "execv -1 errno 1\nsystem 32256\n", "{libc:?} {}", err(&output));
    }
}

#[test]
fn other_preloaded_libraries_stay_behind_the_shim() {
    let other = neutral();
    let gate = Gate::open(Form::Alone);
    let own = gate.library().display().to_string();
    for list in [format!("{own}:{other}"), format!("{other}:{own}"), format!("{other} {own}")] {
        let mut command = gate.command("/bin/bash");
        command.env("LD_PRELOAD", &list).args(["--norc", "-c", "/bin/sh -c 'echo $LD_PRELOAD'; :"]);
        assert_eq!(out(&run(&mut command)), format!("{own}:{other}\n"), "{list}");
    }
    // Set anew by the caller, without the shim.
    let output = bash(&gate, &format!("LD_PRELOAD={other} /bin/sh -c 'echo $LD_PRELOAD'; :"));
    assert_eq!(out(&output), format!("{own}:{other}\n"));
}

/// A library that does nothing.
fn neutral() -> String {
    static MADE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    MADE.get_or_init(make_neutral).clone()
}

fn make_neutral() -> String {
    let path = bench::fixture::made_here("libneutral.so");
    let status = Command::new("gcc").args(["-shared", "-fPIC", "-x", "c", "/dev/null", "-o"]).arg(&path).status();
    assert!(status.is_ok_and(|s| s.success()));
    path.display().to_string()
}

#[test]
fn beside_the_floor_the_agents_children_do_not_see_the_shim() {
    let other = neutral();
    let gate = Gate::open(Form::Beside);
    let mut command = gate.command("/bin/bash");
    let script = "echo $LD_PRELOAD/$STAYEXEC_ASK/$STAYEXEC_SHIM; /usr/bin/env | grep -c -e STAYEXEC_ASK -e STAYEXEC_SHIM -e libstayexec; /bin/sh -c 'echo $LD_PRELOAD'; :";
    command.env("LD_PRELOAD", format!("{}:{other}", gate.library().display())).args(["--norc", "-c", script]);
    assert_eq!(out(&run(&mut command)), format!("{other}//\n0\n{other}\n"));
    gate.expect(1, 3);
    for libc in libcs() {
        let gate = Gate::open(Form::Beside);
        let output = run(gate.command(fixture("entries", libc)).env("TARGET", "/usr/bin/env").arg("execl-short"));
        let told = ["STAYEXEC_ASK=", "STAYEXEC_SHIM=", "LD_PRELOAD="].into_iter().find(|name| out(&output).contains(name));
        assert_eq!(told, None, "{libc:?} {}", out(&output));
        assert!(out(&output).contains("PATH="), "{libc:?}");
    }
}

#[test]
fn beside_the_floor_the_shim_stays_with_the_agent_through_a_chain_of_programs() {
    let gate = Gate::open(Form::Beside);
    let script = "exec /usr/bin/env A=1 /bin/sh -c '/bin/echo $LD_PRELOAD$STAYEXEC_SHIM; exec /bin/echo end'";
    assert_eq!(out(&bash(&gate, script)), "\nend\n");
    // bash, env, sh and the last echo are one process, and each said hello; the first echo was a child of it.
    gate.expect(4, 4);
    let pids: std::collections::BTreeSet<u32> =
        gate.heard().iter().filter_map(|h| if let bench::gate::Heard::Hello(pid, _) = h { Some(*pid) } else { None }).collect();
    assert_eq!(pids.len(), 1);
}

#[test]
fn beside_the_floor_a_shim_that_is_meant_for_another_process_does_nothing() {
    // As in a child of a static agent, which cannot take the variables out of its environment.
    let gate = Gate::open(Form::Beside);
    let mut command = gate.command("/bin/sh");
    command.env(FORM_VARIABLE, "beside:1").args(["-c", "/bin/echo $LD_PRELOAD$STAYEXEC_SHIM$STAYEXEC_ASK; :"]);
    assert_eq!(out(&run(&mut command)), "\n");
    gate.expect(0, 0);
    // Named by its process, it is there.
    let mut command = gate.command("/bin/bash");
    command.env_remove(FORM_VARIABLE).env(FORM_VARIABLE, "off");
    let text = "export STAYEXEC_SHIM=beside:$$; exec /bin/sh -c '/bin/echo a; :'";
    let mut starter = Command::new("/bin/bash");
    starter.envs(command.get_envs().filter_map(|(k, v)| v.map(|v| (k, v))).filter(|(k, _)| *k != "LD_PRELOAD"));
    starter.args(["--norc", "-c", &format!("export LD_PRELOAD={}; {text}", gate.library().display())]);
    assert_eq!(out(&run(&mut starter)), "a\n");
    gate.expect(1, 1);
}

#[test]
fn without_an_address_the_library_does_nothing() {
    let gate = Gate::open(Form::Alone);
    let mut command = Command::new(fixture("entries", Libc::Glibc));
    command.env("LD_PRELOAD", gate.library()).env_remove(FORM_VARIABLE).arg("execv");
    assert!(out(&run(&mut command)).starts_with("ran"));
    gate.expect(0, 0);
    // A form without an address is a gate without a door.
    command.env(FORM_VARIABLE, "alone");
    let output = run(&mut command);
    assert_eq!(out(&output), "execv -1 errno 1\n");
    assert!(err(&output).starts_with("stayexec: denied: the address"), "{}", err(&output));
}

#[test]
fn what_cannot_load_the_library_runs_as_ever() {
    let gate = Gate::open(Form::Alone);
    // Statically linked: asked for by whoever starts it, and silent itself.
    let output = bash(&gate, &format!("{}; echo $?", fixture("child", Libc::Static).display()));
    assert_eq!(out(&output), "0\n");
    gate.expect(1, 1);
    // The file is gone: glibc says so and goes on.
    let mut command = gate.command(fixture("child", Libc::Glibc));
    assert!(run(command.env("LD_PRELOAD", "/nowhere/libstayexec_preload.so")).status.success());
    if libcs().contains(&Libc::Musl) {
        let mut command = gate.command(fixture("child", Libc::Musl));
        assert!(run(command.env("LD_PRELOAD", "/nowhere/libstayexec_preload.so")).status.success());
    }
    gate.expect(1, 1);
}

#[test]
fn a_program_for_32_bits_ignores_the_library_and_says_no_hello() {
    if !bench::fixture::has_i386() {
        return;
    }
    let gate = Gate::open(Form::Alone);
    let output = run(&mut gate.command(fixture("child", Libc::I386)));
    assert!(output.status.success(), "{}", err(&output));
    gate.expect(0, 0);
}

#[test]
fn a_hello_names_what_was_found() {
    for libc in libcs() {
        for form in [Form::Beside, Form::Alone] {
            let gate = Gate::open(form);
            run(&mut gate.command(fixture("child", libc)));
            gate.expect(1, 0);
            let hello = gate.hellos()[0];
            assert_eq!(hello.form, form);
            for entry in Entry::ALL {
                let found = entry != Entry::Execveat || libc == Libc::Glibc;
                assert_eq!(hello.has(entry), found, "{libc:?} {}", entry.as_str());
            }
        }
    }
}
