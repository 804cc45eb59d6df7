//! Text that is meant to break the classifier: it is answered, and the work that this takes grows with its length alone.

use crate::{CommandClass, SecurityPolicy, steps};

/// Steps for each byte of a text, and for any text: what is looked at ahead to tell `((` from `( (` has a cap of its own.
const FOR_A_BYTE: u64 = 16;
const FOR_A_TEXT: u64 = 1 << 21;

fn answered(text: &str) -> CommandClass {
    within(text, FOR_A_BYTE * text.len() as u64 + FOR_A_TEXT)
}

fn within(text: &str, most: u64) -> CommandClass {
    let policy = SecurityPolicy::default();
    steps::take();
    let class = policy.classify_command(text);
    let taken = steps::take();
    if std::env::var_os("SHOW_STEPS").is_some() && text.len() > 100_000 {
        println!("{:6.1} steps a byte for {:?}", taken as f64 / text.len() as f64, text.chars().take(20).collect::<String>());
    }
    assert!(taken <= most, "{taken} steps, not {most}, for {:?}…", text.chars().take(20).collect::<String>());
    class
}

#[test]
fn brackets_without_end() {
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

/// What makes more of a text than it holds is capped: values of variables, texts in texts, arguments for many jobs.
#[test]
fn what_multiplies() {
    let values: String = (0..250).map(|at| format!("x{at}={};", "a".repeat(500))).collect();
    let nested = "sh -c 'y=1; ls $y';".repeat(20_000);
    let within_each_other = |open: &str, close: &str| format!("n={}x{}; echo $((n));", open.repeat(36), close.repeat(36)).repeat(200);
    let jobs = format!("parallel ls {{}} ::: {};", "a ".repeat(64)).repeat(2_000);
    for text in [
        format!("{values}{}", "cat $x1;".repeat(60_000)),
        format!("{values}cat {}", "$x1".repeat(200_000)),
        format!("{values}{nested}"),
        format!("x=a;{}", "x=$x$x;".repeat(100_000)),
        format!("{}f1", (0..2_000).map(|at| format!("f{at}() {{ ls; }};(ls);")).collect::<String>()),
        jobs,
        within_each_other("$(echo ", ")"),
        within_each_other("$(grep -c y \"", "\")"),
        within_each_other("$(grep -n y f", " | cut -d: -f1)"),
        within_each_other("$(wc -l $(grep -n y ", "))"),
        "ls | head | while read x; do sort $x; done; ".repeat(2_000),
        format!("{}read x; sort $x", "ls | ".repeat(15_000)),
        "eval 'eval \"eval ls\"';".repeat(20_000),
        "find . -exec ls {} \\; -exec ls {} \\;;".repeat(10_000),
        format!("ls {}", "--all --al --a -laaaaaaaaa ".repeat(30_000)),
        format!("git log {}", "--stat=1 --st --no-pa ".repeat(30_000)),
        "cat <<E | sh\nls\nE\n".repeat(40_000),
    ] {
        within(&text, FOR_A_BYTE * text.len() as u64 + (1 << 25));
    }
}
