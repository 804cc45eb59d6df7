//! Repair and leaving, on environments made here.

use super::*;
use std::ffi::{CStr, CString};

const OWN: &str = "/r/libstayexec_preload.so";

fn config() -> Config {
    Config::of(Some(b"/r/ask"), Some(b"alone"), Some(OWN.as_bytes()), 1)
}

struct Environment {
    _texts: Vec<CString>,
    vector: Vec<Text>,
}

impl Environment {
    fn of(entries: &[&str]) -> Self {
        let texts: Vec<CString> = entries.iter().map(|e| CString::new(*e).unwrap()).collect();
        let vector = texts.iter().map(|t| t.as_ptr()).chain([core::ptr::null()]).collect();
        Self { _texts: texts, vector }
    }
}

fn texts(vector: Vector) -> Vec<String> {
    // SAFETY: made above, or by the repair under test.
    unsafe { Entries::of(vector) }.map(|t| unsafe { CStr::from_ptr(t) }.to_str().unwrap().to_owned()).collect()
}

fn repaired(entries: &[&str]) -> Vec<String> {
    let environment = Environment::of(entries);
    // SAFETY: made here.
    unsafe { with(environment.vector.as_ptr(), &config(), |v| texts(v.unwrap())) }
}

#[test]
fn a_whole_one_is_passed_on_as_it_is() {
    let preload = format!("LD_PRELOAD={OWN}:/x.so");
    let environment = Environment::of(&["A=1", "STAYEXEC_ASK=/r/ask", &preload, "STAYEXEC_SHIM=alone"]);
    let pointer = environment.vector.as_ptr();
    // SAFETY: made here.
    assert_eq!(unsafe { with(pointer, &config(), |vector| vector) }, Some(pointer));
}

#[test]
fn an_empty_one_stays_empty() {
    assert_eq!(repaired(&[]), Vec::<String>::new());
    // SAFETY: null is allowed.
    assert_eq!(unsafe { with(core::ptr::null(), &config(), |vector| vector.map(Vector::is_null)) }, Some(true));
}

#[test]
fn what_is_missing_is_put_in() {
    let own = format!("LD_PRELOAD={OWN}");
    assert_eq!(repaired(&["A=1"]), ["A=1", "STAYEXEC_ASK=/r/ask", "STAYEXEC_SHIM=alone", &own]);
}

#[test]
fn what_was_changed_is_put_right_and_others_are_kept_behind() {
    let first = format!("LD_PRELOAD={OWN}:/a.so:/b.so");
    let others = format!("LD_PRELOAD=/a.so {OWN}:/b.so");
    let expected = ["STAYEXEC_ASK=/r/ask", "STAYEXEC_SHIM=alone", &first];
    assert_eq!(repaired(&["STAYEXEC_ASK=/evil", &others, "STAYEXEC_SHIM=beside"]), expected);
    // The loader obeys the last of several, so several are never whole.
    let own = format!("LD_PRELOAD={OWN}");
    assert_eq!(repaired(&[&own, "STAYEXEC_ASK=/r/ask", "STAYEXEC_SHIM=alone", "LD_PRELOAD=/a.so:/b.so"]), expected);
    // A longer name is not the library.
    assert_eq!(repaired(&[&format!("{own}x"), "STAYEXEC_ASK=/r/ask", "STAYEXEC_SHIM=alone"])[2], format!("{own}:{OWN}x"));
}

#[test]
fn a_long_one_is_repaired_in_memory_of_its_own() {
    let many: Vec<String> = (0..3000).map(|n| format!("V{n}={n}")).collect();
    let mut entries: Vec<&str> = many.iter().map(String::as_str).collect();
    let list = format!("LD_PRELOAD={}", "/other.so:".repeat(2000));
    entries.push(&list);
    let after = repaired(&entries);
    assert_eq!(after.len(), 3003);
    assert_eq!(after[..3000], many[..]);
    assert_eq!(after[3002], format!("LD_PRELOAD={OWN}{}", ":/other.so".repeat(2000)));
}

#[test]
fn without_a_path_of_its_own_it_leaves_ld_preload_alone() {
    let config = Config::of(Some(b"/r/ask"), Some(b"alone"), None, 1);
    let environment = Environment::of(&["LD_PRELOAD=/a.so"]);
    // SAFETY: made here.
    let after = unsafe { with(environment.vector.as_ptr(), &config, |v| texts(v.unwrap())) };
    assert_eq!(after, ["LD_PRELOAD=/a.so", "STAYEXEC_ASK=/r/ask", "STAYEXEC_SHIM=alone"]);
}

fn left(entries: &[&str]) -> Vec<String> {
    let mut environment = Environment::of(entries);
    // SAFETY: made here; the strings are written through their pointers only.
    unsafe { leave(environment.vector.as_mut_ptr()) };
    texts(environment.vector.as_ptr())
}

#[test]
fn beside_the_floor_it_leaves_no_trace() {
    let own = format!("LD_PRELOAD={OWN}");
    let form = "STAYEXEC_SHIM=beside";
    assert_eq!(left(&["A=1", "STAYEXEC_ASK=/r/ask", &own, form, "B=2", form]), ["A=1", "B=2"]);
    // Pairs fill what became free: of an odd number one string stays, and is empty.
    assert_eq!(left(&["A=1", "STAYEXEC_ASK=/r/ask", &own, form, "B=2"]), ["A=1", "B=2", ""]);
    for (list, kept) in [
        (format!("LD_PRELOAD={OWN}:/a.so"), "LD_PRELOAD=/a.so"),
        (format!("LD_PRELOAD=/a.so:{OWN}"), "LD_PRELOAD=/a.so"),
        (format!("LD_PRELOAD=:/a.so  {OWN}:/b.so:"), "LD_PRELOAD=/a.so:/b.so"),
        ("LD_PRELOAD=/a.so: /b.so".to_owned(), "LD_PRELOAD=/a.so: /b.so"),
    ] {
        assert_eq!(left(&[&list]), [kept]);
    }
    assert_eq!(left(&[]), Vec::<String>::new());
}
