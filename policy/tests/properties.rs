//! Properties that hold for every command, and the second parsers' opinion.

use proptest::prelude::*;
use stayexec_policy::{CommandClass, SecurityPolicy, redact};

const COMMANDS: &[&str] = &[
    "ls -la",
    "cat x | head",
    "rm x",
    "rm -rf y",
    "git status",
    "git push --force",
    "curl h",
    "npm install",
    "find . -name x",
    "find . -delete",
    "echo hi > f",
    "nosuch",
    "sed -n 1p f",
    "sort -o f f",
    "x=1",
    "echo $(date)",
    "grep -rn a b",
    "sudo ls",
    "for i in a; do ls; done",
    "true",
    "awk '{print $1}' f",
    "touch f",
    "cd x",
    "git log -3",
];

fn command() -> impl Strategy<Value = &'static str> {
    prop::sample::select(COMMANDS)
}

fn class(text: &str) -> CommandClass {
    SecurityPolicy::default().classify_command(text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in "\\PC*|[ -~\n]{0,80}|[\\(\\){}\\[\\]$`'\"<>&|;#\\\\ a\n=!]{0,40}") {
        let policy = SecurityPolicy::default();
        let part = policy.explain_command(&text);
        prop_assert_eq!(part.class, policy.classify_command(&text));
        prop_assert!(part.parts.iter().all(|below| below.class <= part.class));
    }

    #[test]
    fn a_segment_never_lowers(first in command(), second in command(), joint in prop::sample::select(&["; ", " && ", " || ", " & ", "\n", " | "][..])) {
        let whole = class(&format!("{first}{joint}{second}"));
        prop_assert!(whole >= class(first).max(class(second)), "{}{}{}", first, joint, second);
    }

    #[test]
    fn quoting_a_word_never_lowers(text in command(), at in 0usize..4, quote in 0usize..3) {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let at = at % words.len();
        if words[at].chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/')) && !["do", "for", "in", "done;"].contains(&words[at].as_str()) {
            words[at] = match quote {
                0 => format!("'{}'", words[at]),
                1 => format!("\"{}\"", words[at]),
                _ => format!("\\{}", words[at]),
            };
            prop_assert!(class(&words.join(" ")) >= class(text), "{}", words.join(" "));
        }
    }

    #[test]
    fn declaring_only_raises(text in command(), declared in prop::sample::select(&CommandClass::ALL[..])) {
        let decision = SecurityPolicy::default().decide(text, Some(declared));
        prop_assert_eq!(decision.class, class(text).max(declared));
    }

    #[test]
    fn independent_options_may_change_places(options in Just(vec!["-l", "-a", "-h", "-t", "-r", "--color=auto", "--zero"]).prop_shuffle(), count in 0usize..7) {
        prop_assert_eq!(class(&format!("ls {} x", options[..count].join(" "))), CommandClass::Read);
        let unknown = format!("ls {} --nosuch x {}", options[..count].join(" "), options[count..].join(" "));
        prop_assert_eq!(class(&unknown), CommandClass::Write);
    }

    #[test]
    fn operands_may_have_any_name(name in "[a-zA-Z0-9_.][a-zA-Z0-9_./-]{0,12}") {
        prop_assert_eq!(class(&format!("cat {name}")), CommandClass::Read);
        prop_assert_eq!(class(&format!("rm -r {name}")), CommandClass::Destructive);
        let own = class(&format!("./{name}"));
        prop_assert!(own >= CommandClass::Write);
    }

    #[test]
    fn redaction_is_stable(argv in prop::collection::vec("\\PC{0,24}|--password|-u|token=[a-z]{0,8}|ghp_[a-zA-Z0-9]{20}|https://a:b@c/d|Authorization: x y", 0..6)) {
        let raw: Vec<Vec<u8>> = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
        let once = redact::argv(&raw);
        prop_assert_eq!(once.len(), raw.len());
        prop_assert_eq!(redact::argv(&once), once);
    }
}
