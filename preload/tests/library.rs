//! The library as a file: what it needs, what it defines, what it cannot do.

mod bench;

use stayexec_protocol::ask::Entry;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

fn library() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let path = bench::fixture::made_here("library.so");
        std::fs::write(&path, stayexec_preload::LIBRARY).expect("write");
        path
    };
    MADE.get_or_init(make).clone()
}

fn tool(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).arg(library()).output().expect("binutils");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn names<'a>(listing: &'a str, kinds: &[&str]) -> Vec<&'a str> {
    let words = listing.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.filter(|w| w.len() >= 2 && kinds.contains(&w[w.len() - 2])).map(|w| w[w.len() - 1]).collect()
}

#[test]
fn it_needs_no_library_and_no_version_of_one() {
    let dynamic = tool("readelf", &["-d", "-V"]);
    assert!(!dynamic.contains("NEEDED") && !dynamic.contains("VERNEED") && !dynamic.contains("TEXTREL"), "{dynamic}");
    assert!(dynamic.contains("BIND_NOW"), "{dynamic}");
}

#[test]
fn it_defines_the_hooks_and_nothing_else() {
    let listing = tool("nm", &["-D", "--defined-only"]);
    let mut expected: Vec<&str> = Entry::ALL.iter().map(|entry| entry.as_str()).collect();
    expected.sort_unstable();
    let mut defined: Vec<&str> = listing.lines().filter_map(|line| line.split_whitespace().last()).collect();
    defined.sort_unstable();
    assert_eq!(defined, expected);
}

#[test]
fn it_takes_from_the_c_library_only_what_is_safe_anywhere() {
    let listing = tool("nm", &["-D", "--undefined-only"]);
    // Strings and memory; found or not.
    let strong = names(&listing, &["U"]);
    assert!(strong.iter().all(|name| ["bcmp", "memcmp", "memcpy", "memmove", "memset", "strlen"].contains(name)), "{strong:?}");
    // The loader's functions are weak, and used by the constructor alone.
    let weak = names(&listing, &["w"]);
    let known = ["__errno_location", "__libc_dlopen_mode", "__libc_dlsym", "dlerror", "dlsym", "environ"];
    assert!(weak.iter().all(|name| known.contains(name)), "{weak:?}");
}

#[test]
fn it_has_no_path_to_a_panic_and_no_thread_local_storage() {
    let symbols = tool("nm", &["-C"]);
    assert!(symbols.contains("on_execve"), "the library has its symbols: {symbols}");
    for word in ["panic", "unwind", "core::fmt", "slice_index_fail", "unwrap_failed", "expect_failed"] {
        assert!(!symbols.contains(word), "{word}: {symbols}");
    }
    let segments = tool("readelf", &["-lW"]);
    assert!(!segments.contains("TLS") && !segments.contains("RWE"), "{segments}");
}
