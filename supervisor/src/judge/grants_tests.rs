//! Tests of [`super`]: whom a grant covers and when it ends.

use super::super::session::testing::event;
use super::*;

fn process(pid: u32, start: u64) -> Process {
    Process { pid, start, name: b"x".to_vec() }
}

fn child(path: &str, parents: &[(u32, u64)]) -> Event {
    let ancestry = parents.iter().map(|(pid, start)| process(*pid, *start)).collect();
    Event { process: process(77, 700), ancestry, ..event(path, &["x"]) }
}

fn granted() -> Grants {
    let mut grants = Grants::default();
    let approved = Event { process: process(10, 20), ..event("/usr/bin/bash", &["bash", "-c", "cd x; npm install"]) };
    grants.extend(Grant::of(&approved, CommandClass::Install, true));
    grants
}

#[test]
fn descendants_up_to_the_class_are_covered() {
    let grants = granted();
    assert!(grants.cover(&child("/usr/bin/node", &[(10, 20)]), CommandClass::Install));
    assert!(grants.cover(&child("/usr/bin/make", &[(50, 1), (10, 20), (1, 0)]), CommandClass::Write));
    assert!(!grants.cover(&child("/usr/bin/rm", &[(10, 20)]), CommandClass::Destructive));
}

#[test]
fn reparented_reused_and_foreign_processes_are_not() {
    let grants = granted();
    assert!(!grants.cover(&child("/usr/bin/node", &[(1, 0)]), CommandClass::Write));
    assert!(!grants.cover(&child("/usr/bin/node", &[(10, 21)]), CommandClass::Write));
}

#[test]
fn what_the_process_had_forked_before_is_not() {
    let approved =
        Event { process: process(10, 20), elders: Some(vec![process(50, 1)]), ..event("/usr/bin/bash", &["bash", "-c", "make"]) };
    let mut grants = Grants::default();
    grants.extend(Grant::of(&approved, CommandClass::Write, true));
    assert!(grants.cover(&child("/usr/bin/make", &[(51, 1), (10, 20)]), CommandClass::Write));
    assert!(!grants.cover(&child("/usr/bin/make", &[(50, 1), (10, 20)]), CommandClass::Write));
    let elder = Event { process: process(50, 1), ..child("/usr/bin/make", &[(10, 20)]) };
    assert!(!grants.cover(&elder, CommandClass::Write));
    assert_eq!(Grant::of(&Event { elders: None, ..approved }, CommandClass::Write, true), None, "nobody knows");
}

#[test]
fn a_process_that_becomes_something_else_keeps_nothing() {
    let mut grants = granted();
    let becomes = |path: &str, called: &str| Event { process: process(10, 20), ..event(path, &[called, "x"]) };
    assert!(!grants.became(&becomes("/usr/bin/npm", "npm")));
    assert!(grants.cover(&child("/usr/bin/node", &[(10, 20)]), CommandClass::Write));
    assert!(grants.became(&becomes("/usr/bin/python3.11", "python3")));
    assert!(!grants.cover(&child("/usr/bin/node", &[(10, 20)]), CommandClass::Write));
    assert!(grants.order.is_empty());
}

#[test]
fn an_installed_program_is_named_by_what_it_is_called() {
    let mut grants = Grants::default();
    let approved = Event { process: process(10, 20), ..event("/usr/bin/bash", &["bash", "-c", "python3 -m pip list"]) };
    grants.extend(Grant::of(&approved, CommandClass::Write, true));
    let own = |path: &str| Event { process: process(10, 20), ..event(path, &["python3", "-m", "pip"]) };
    assert!(grants.cover(&own("/usr/bin/python3.11"), CommandClass::Write));
    let mut evil = own("/home/dev/proj/x");
    evil.executable.root_owned = false;
    assert!(!grants.cover(&evil, CommandClass::Write));
}

#[test]
fn in_place_only_what_the_text_names() {
    let grants = granted();
    let own = |path: &str| Event { process: process(10, 20), ..event(path, &["other"]) };
    assert!(grants.cover(&own("/usr/bin/npm"), CommandClass::Install));
    assert!(!grants.cover(&own("/usr/bin/make"), CommandClass::Write));
}

#[test]
fn a_file_that_was_changed_while_the_question_was_open_is_not() {
    let second = 1_000_000_000;
    let approved = Event { process: process(10, 20), ..event("/usr/bin/bash", &["bash", "-c", "./deploy.sh"]) };
    let mut grants = Grants::default();
    grants.extend(Grant::of(&approved, CommandClass::Write, true).map(|grant| grant.answered(100 * second, 160 * second)));
    let script = |ctime| {
        let mut script = stayexec_protocol::Script::unreadable(b"./deploy.sh".to_vec(), false);
        script.id.ctime = ctime;
        Event { script: Some(script), ..child("/usr/bin/bash", &[(10, 20)]) }
    };
    let program = |ctime| {
        let mut event = child("/home/dev/proj/tool", &[(10, 20)]);
        event.executable.id.ctime = ctime;
        event
    };
    for (ctime, covered) in [(99 * second, true), (130 * second, false), (160 * second, true)] {
        assert_eq!(grants.cover(&script(ctime), CommandClass::Write), covered, "{ctime}");
        assert_eq!(grants.cover(&program(ctime), CommandClass::Write), covered, "{ctime}");
    }
}

#[test]
fn past_the_limit_the_oldest_goes() {
    let mut grants = granted();
    for pid in 0..u32::try_from(LIMIT).unwrap_or(0) {
        let approved = Event { process: process(pid, 9), ..event("/usr/bin/make", &["make"]) };
        grants.extend(Grant::of(&approved, CommandClass::Write, true));
    }
    assert!(!grants.cover(&child("/usr/bin/make", &[(10, 20)]), CommandClass::Write));
    assert!(grants.cover(&child("/usr/bin/make", &[(0, 9)]), CommandClass::Write));
    assert_eq!((grants.order.len(), grants.of.len()), (LIMIT, LIMIT));
}

#[test]
fn a_text_that_nobody_saw_grants_nothing() {
    assert_eq!(Grant::of(&event("/usr/bin/bash", &["bash"]), CommandClass::Write, false), None);
}
