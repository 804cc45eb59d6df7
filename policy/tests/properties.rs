//! Properties that hold for every command: of the corpora, and of generated ones.

mod common;

use std::sync::LazyLock;

use proptest::prelude::*;
use stayexec_policy::{CommandClass, Exec, FileFacts, Part, Places, ReasonCode, SecurityPolicy, Stdin, redact};

/// Lines that end where they end: no comment, here-document or open quote reaches into what is put behind them.
fn lines() -> Vec<String> {
    let policy = SecurityPolicy::default();
    let all = common::corpus().into_iter().map(|case| case.text);
    all.filter(|line| !line.contains(['#', '\\', '`', '\n']) && !line.contains("<<"))
        .filter(|line| line.matches('\'').count() % 2 == 0 && line.matches('"').count() % 2 == 0)
        .filter(|line| !opaque(&policy.explain_command(line)))
        .collect()
}

fn opaque(part: &Part) -> bool {
    part.code == ReasonCode::Opaque || part.parts.iter().any(opaque)
}

fn command() -> impl Strategy<Value = &'static str> {
    static LINES: LazyLock<Vec<String>> = LazyLock::new(lines);
    (0..LINES.len()).prop_map(|at| LINES[at].as_str())
}

fn class(text: &str) -> CommandClass {
    SecurityPolicy::default().classify_command(text)
}

/// Commands whose operand may be called anything, with their class.
const OPERANDS: &[(&str, CommandClass)] = &[
    ("cat {}", CommandClass::Read),
    ("head -n 3 {}", CommandClass::Read),
    ("sort -u {} {}", CommandClass::Read),
    ("find {} -name '*.c' -type f", CommandClass::Read),
    ("sed -n '1,5p' {}", CommandClass::Read),
    ("awk '{print $1}' {}", CommandClass::Read),
    ("grep -rn foo {}", CommandClass::Read),
    ("git log -3 -- {}", CommandClass::Read),
    ("git diff HEAD -- {}", CommandClass::Read),
    ("tar tf {}", CommandClass::Read),
    ("jq . {}", CommandClass::Read),
    ("diff {} {}", CommandClass::Read),
    ("touch {}", CommandClass::Write),
    ("rm -f {}", CommandClass::Write),
    ("cp {} {}", CommandClass::Write),
    ("sed -i s/a/b/ {}", CommandClass::Write),
    ("sort -o {} {}", CommandClass::Write),
    ("echo x > {}", CommandClass::Write),
    ("tee {}", CommandClass::Write),
    ("git add {}", CommandClass::Write),
    ("git clone https://h/{}", CommandClass::Network),
    ("curl https://h/{}", CommandClass::Network),
    ("ssh {} ls", CommandClass::Network),
    ("npm install {}", CommandClass::Install),
    ("cargo add {}", CommandClass::Install),
    ("pip install {}", CommandClass::Install),
    ("rm -r {}", CommandClass::Destructive),
    ("find {} -delete", CommandClass::Destructive),
    ("shred {}", CommandClass::Destructive),
    ("git push --force origin {}", CommandClass::Destructive),
];

/// A program, options that do not touch each other, what stands behind them, and the class of it all.
const OPTIONS: &[(&str, &[&str], &str, CommandClass)] = &[
    ("ls", &["-l", "-a", "-h", "-t", "--color=auto", "-I x"], "y", CommandClass::Read),
    ("grep", &["-n", "-i", "-r", "-A 2", "--include='*.c'", "-w"], "foo .", CommandClass::Read),
    ("sort", &["-n", "-r", "-k 2", "-t :", "-u"], "x", CommandClass::Read),
    ("sort", &["-n", "-o y", "-k 2", "-r"], "x", CommandClass::Write),
    ("git log", &["--oneline", "-n 3", "--stat", "--since=x", "--author y", "--no-color"], "", CommandClass::Read),
    ("git log", &["--oneline", "--output=y", "--stat"], "", CommandClass::Write),
    ("git push", &["-q", "--force", "--tags", "-u"], "origin x", CommandClass::Destructive),
    ("find .", &["-name x", "-type f", "-mtime 3", "-print"], "", CommandClass::Read),
    ("find .", &["-name x", "-type f", "-delete"], "", CommandClass::Destructive),
    ("rm", &["-f", "-r", "-v"], "x", CommandClass::Destructive),
    ("tar", &["-t", "-v", "-f x"], "", CommandClass::Read),
    ("curl", &["-s", "-S", "-L", "-H 'a: b'"], "https://h", CommandClass::Network),
    ("npm install", &["--save-dev", "--no-audit", "--silent"], "x", CommandClass::Install),
    ("rg", &["-n", "-i", "-g '*.rs'", "--hidden", "-C 2"], "foo", CommandClass::Read),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(600), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in "\\PC*|[ -~\n]{0,80}|[\\(\\){}\\[\\]$`'\"<>&|;#\\\\ a\n=!]{0,40}") {
        let policy = SecurityPolicy::default();
        let part = policy.explain_command(&text);
        prop_assert_eq!(part.class, policy.classify_command(&text));
        prop_assert!(part.parts.iter().all(|below| below.class <= part.class));
    }

    #[test]
    fn a_segment_never_lowers(first in command(), second in command(), joint in prop::sample::select(&["; ", " && ", " || ", " & ", "\n", " | "][..])) {
        // A function or variable of the first may mean something to the second, but never less.
        let whole = class(&format!("{first}{joint}{second}"));
        prop_assert!(whole >= class(first), "{}{}{} is {}", first, joint, second, whole);
        let own = class(second);
        prop_assert!(whole >= own || first.contains('=') || first.contains("eval"), "{}{}{} is {}, {} alone", first, joint, second, whole, own);
    }

    #[test]
    fn a_frame_never_lowers(text in command(), frame in prop::sample::select(&["( {} )", "{ {}; }", "if {}; then :; fi", "! {}", "echo $( {} )", "framed=$( {} )", "while {}; do :; done", "for i in a; do {}; done"][..])) {
        let framed = frame.replace("{}", text);
        prop_assert!(class(&framed) >= class(text), "{}", framed);
    }

    #[test]
    fn quoting_a_word_never_lowers(text in command(), at in 0usize..12, quote in 0usize..4) {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let at = at % words.len();
        let reserved = ["do", "for", "in", "if", "then", "else", "elif", "fi", "done", "while", "until", "case", "esac", "select", "time", "function", "coproc"];
        if !words[at].is_empty() && words[at].chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/' | '_')) && !reserved.contains(&words[at].as_str()) {
            let word = words[at].clone();
            words[at] = match quote {
                0 => format!("'{word}'"),
                1 => format!("\"{word}\""),
                2 => format!("$'{word}'"),
                _ => format!("\\{word}"),
            };
            let quoted = words.join(" ");
            // Inside a text that is quoted already the marks are part of it.
            let nested = text.contains(['\'', '"']);
            prop_assert!(nested || class(&quoted) >= class(text), "{}", quoted);
        }
    }

    #[test]
    fn declaring_only_raises(text in command(), declared in prop::sample::select(&CommandClass::ALL[..])) {
        let decision = SecurityPolicy::default().decide(text, Some(declared));
        prop_assert_eq!(decision.class, class(text).max(declared));
    }

    #[test]
    fn independent_options_may_change_places(at in 0..OPTIONS.len(), order in prop::collection::vec(any::<u32>(), 8)) {
        let (program, options, rest, expected) = OPTIONS[at];
        let mut shuffled: Vec<(u32, &str)> = order.into_iter().zip(options.iter().copied()).collect();
        shuffled.sort_unstable();
        let options: Vec<&str> = shuffled.into_iter().map(|(_, option)| option).collect();
        let line = format!("{program} {} {rest}", options.join(" "));
        prop_assert_eq!(class(&line), expected, "{}", line);
        let unknown = class(&format!("{program} {} --nosuch {rest}", options.join(" ")));
        prop_assert!(unknown >= expected.max(CommandClass::Write));
    }

    #[test]
    fn operands_may_have_any_name(at in 0..OPERANDS.len(), name in "[a-zA-Z0-9_][a-zA-Z0-9_.]{0,5}[a-zA-Z0-9_]") {
        let (template, expected) = OPERANDS[at];
        let line = template.replace("{}", &name);
        prop_assert_eq!(class(&line), expected, "{}", line);
        let own = class(&format!("./{name}"));
        prop_assert!(own >= CommandClass::Write);
    }

    #[test]
    fn no_fact_of_a_file_lowers_what_it_would_be(text in command(), facts in 0u8..32) {
        let argv: Vec<Vec<u8>> = ["bash", "-c", text].map(|word| word.as_bytes().to_vec()).to_vec();
        let bit = |at: u8| facts & (1 << at) != 0;
        let file = FileFacts { path: b"/usr/bin/bash", root_owned: bit(0), chain_root_owned: bit(1), unchanged: bit(2), same_view: bit(3), linker_trusted: bit(4) };
        let exec = Exec { argv: &argv, environment: &[], baseline: &[], cwd: b"/", file, script: None, stdin: Stdin::Null };
        let doubted = SecurityPolicy::default().classify_argv(&exec, &Places::default());
        let believed = FileFacts { root_owned: true, chain_root_owned: true, unchanged: true, same_view: true, linker_trusted: true, ..file };
        let trusted = SecurityPolicy::default().classify_argv(&Exec { file: believed, ..exec }, &Places::default());
        prop_assert!(doubted.class >= trusted.class);
        prop_assert!(doubted.trusted || doubted.class >= CommandClass::Write);
    }

    #[test]
    fn a_variable_in_the_environment_never_lowers(text in command(), variable in "LD_PRELOAD|PAGER|HOME|BASH_ENV|X", value in "less|/tmp/x|") {
        let argv: Vec<Vec<u8>> = ["bash", "-c", text].map(|word| word.as_bytes().to_vec()).to_vec();
        let environment = [format!("{variable}={value}").into_bytes()];
        let file = FileFacts { path: b"/usr/bin/bash", root_owned: true, chain_root_owned: true, unchanged: true, same_view: true, linker_trusted: true };
        let exec = Exec { argv: &argv, environment: &[], baseline: &[], cwd: b"/", file, script: None, stdin: Stdin::Null };
        let policy = SecurityPolicy::default();
        let without = policy.classify_argv(&exec, &Places::default()).class;
        let with = policy.classify_argv(&Exec { environment: &environment, ..exec }, &Places::default()).class;
        prop_assert!(with >= without);
    }

    #[test]
    fn redaction_is_stable(argv in prop::collection::vec("\\PC{0,24}|--password|-u|token=[a-z]{0,8}|ghp_[a-zA-Z0-9]{20}|https://a:b@c/d|Authorization: x y", 0..6)) {
        let raw: Vec<Vec<u8>> = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
        let once = redact::argv(&raw);
        prop_assert_eq!(once.len(), raw.len());
        prop_assert_eq!(redact::argv(&once), once);
    }
}
