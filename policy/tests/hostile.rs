//! Text that is meant to break the parser: it is answered, never as Read, and soon.

use std::time::{Duration, Instant};

use stayexec_policy::{CommandClass, SecurityPolicy};

/// Debug builds and loaded machines get room; the benchmark holds the real bound.
const SOON: Duration = Duration::from_millis(1500);

fn answered(text: &str) -> CommandClass {
    let policy = SecurityPolicy::default();
    let start = Instant::now();
    let class = policy.classify_command(text);
    assert!(start.elapsed() < SOON, "{:?} for {:?}…", start.elapsed(), text.chars().take(20).collect::<String>());
    class
}

#[test]
fn brackets_without_end() {
    let _ = SecurityPolicy::default().classify_command("ls");
    let openers = [
        "(",
        "((",
        "{ ",
        "$(",
        "${",
        "$((",
        "`",
        "\"$(",
        "\"${x:-",
        "[[ ",
        "[[ (",
        "if ",
        "while ",
        "case x in x) ",
        "<(",
        ">(",
        "a=(",
        "$[",
        "for x in ",
        "f() ",
        "function f ",
        "! ",
        "time ",
        "\"",
        "'",
        "$'",
        "<<E ",
        "((a ",
        "$(( (",
        "coproc ",
        "do ",
        "{",
        "x[",
        "${a[",
        "sh -c 'x ",
        "eval ",
        "sudo ",
        "env ",
        "$((a $((",
        "( (",
        "\\`",
        "`\\`",
        "{a,",
        "${x//",
        "until ",
        "select x in ",
        "xargs ",
        "nice ",
        "\"$((",
        "echo $(echo \"",
        "((((a)) ",
    ];
    for opener in openers {
        let text = opener.repeat(100_000);
        let class = answered(&text[..text.len().min(1 << 20)]);
        // What holds no command at all may be anything that runs nothing.
        if !matches!(opener, "! " | "time ") {
            assert!(class >= CommandClass::Write, "{opener:?} is {class}");
        }
    }
}

#[test]
fn balanced_brackets() {
    for (open, close) in [
        ("(", ")"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("$((", "))"),
        ("((", "))"),
        ("<(", ")"),
        ("if ", "; then :; fi"),
    ] {
        for depth in [3, 100, 10_000] {
            let text = format!("echo {}ls{}", open.repeat(depth), close.repeat(depth));
            let class = answered(&text);
            assert!(depth < 100 || class >= CommandClass::Write, "{open:?} {depth}");
        }
    }
}

#[test]
fn a_mebibyte() {
    for unit in [
        "a", "a ", "a;", "ls|", "ls;", "x=1 ", ">f ", "$x", "$(ls) ", "'a'", "\"a\"", "\\a", "#\n", "\n", "<<E\n", "a&&", "é", "$x;",
        "`ls`;", "[[ a ]];", "{a,b}", "((1));", "$((1)) ", "${x} ", "a=(1) ",
    ] {
        let text = unit.repeat((1 << 20) / unit.len());
        answered(&text);
        answered(&format!("{text}a"));
        answered(&format!("cat {text}"));
    }
    assert!(answered(&"a".repeat((1 << 20) + 1)) >= CommandClass::Write);
}

#[test]
fn what_stands_behind_much_text_is_not_read() {
    for filler in ["ls;", "ls | cat;", "echo a b c d e f g;", "(ls);", "$(ls);"] {
        for count in [10, 1_000, 30_000, 200_000] {
            let text = filler.repeat(count.min((1 << 20) / filler.len() - 4)) + "rm -rf x";
            assert!(answered(&text) >= CommandClass::Write, "{filler} {count}");
        }
    }
}

#[test]
fn odd_bytes() {
    for text in [
        "",
        " ",
        "\n",
        "#",
        "\0",
        "ls\0rm x",
        "\u{feff}ls",
        "ls\r\nrm x",
        "\\",
        "$",
        "`",
        "'",
        "\"",
        "&",
        ";",
        "|",
        "(",
        ")",
        "<",
        ">",
        "$'\\",
        "$'\\x",
        "$'é\\é'",
        "<<",
        "<<'",
        "${",
        "${}",
        "$((",
        "a=(",
        "{",
        "}",
        "!",
        "é",
        "\u{10ffff}",
        "[[",
        "]]",
        "case",
        "esac",
        "for",
        "in",
        "do",
        "if",
        "\\\n",
        "\\\n\\\n",
        "a\\\n",
        "<<\\\n",
        "$\\\n(",
    ] {
        for suffix in ["", "x", " x", "\n", "'", "\"", ")", "}", "\\", "é", "$", "`"] {
            answered(&format!("{text}{suffix}"));
        }
    }
}
