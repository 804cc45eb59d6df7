//! What holds for the classifier whatever it is given: the body of the fuzz target, replayed over its corpus by a test.

use stayexec_policy::forbidden::Operands;
use stayexec_policy::{
    ClassifySettings, CommandClass, Exec, FileFacts, Part, Places, ReasonCode, Script, SecurityPolicy, Shell, Stdin, Unknown, redact,
};

/// Panics when something does not hold for these bytes: a text, and an argument vector of what stands between NULs.
pub fn classify(data: &[u8]) {
    let policy = SecurityPolicy::default();
    if let Ok(text) = std::str::from_utf8(data) {
        texts(&policy, text);
    }
    starts(&policy, data);
}

fn texts(policy: &SecurityPolicy, text: &str) {
    let class = policy.classify_command(text);
    let tree = policy.explain_command(text);
    assert_eq!(tree.class, class, "explaining changes nothing");
    below(&tree);
    let strict = ClassifySettings { shell: Shell::Strict, unknown: Unknown::Destructive, workspace_only: true };
    assert!(SecurityPolicy::default().with_classify(strict).classify_command(text) >= class, "strict settings only raise");
    if !text.ends_with('\\') {
        let longer = policy.classify_command(&format!("{text}\nnosuchprogram"));
        // Behind an open quote it changes a word, and may lower the rest: but never to Read.
        assert!(longer >= CommandClass::Write, "a command behind it is seen: {text:?}");
    }
    // What is cut off may be completed by the frame.
    if !text.contains('\0') && !text.ends_with('\\') && !opaque(&tree) {
        let framed = policy.classify_command(&format!("{{ {text}\n}}"));
        assert!(framed >= class.min(CommandClass::Write), "a frame hides nothing: {text:?}");
    }
    let _ = Operands::of_command(policy, text, std::path::Path::new("/w"), std::path::Path::new("/h"));
    let _ = redact::text(text);
}

fn starts(policy: &SecurityPolicy, data: &[u8]) {
    let argv: Vec<Vec<u8>> = data.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect();
    for path in [&b"/usr/bin/bash"[..], b"/usr/bin/node", b"/usr/bin/git", b"/usr/bin/env", b"/usr/bin/busybox", b"/tmp/x"] {
        let file = FileFacts { path, root_owned: true, chain_root_owned: true, unchanged: true, same_view: true, linker_trusted: true };
        let exec = Exec { argv: &argv, environment: &[], baseline: &[], cwd: b"/", file, script: None, stdin: Stdin::Pipe };
        let believed = policy.classify_argv(&exec, &Places::default());
        let doubted = policy.classify_argv(&Exec { file: FileFacts { unchanged: false, ..file }, ..exec }, &Places::default());
        assert!(doubted.class >= believed.class.max(CommandClass::Write), "a doubtful file only raises");
        if let Some(wanted) = &believed.wants {
            assert!(argv.contains(wanted), "what is wanted is a word of argv");
            let stranger = FileFacts { path: b"/tmp/x", unchanged: false, ..file };
            let script = Script { path: wanted, text: None, operand: true, interpreted_by_kernel: false, file: stranger };
            let asked = policy.classify_argv(&Exec { script: Some(script), ..exec }, &Places::default());
            assert!(asked.class >= CommandClass::Write && asked.wants.is_none(), "an unread script is not Read");
        }
    }
}

fn opaque(part: &Part) -> bool {
    matches!(part.code, ReasonCode::Opaque | ReasonCode::TooLong) || part.parts.iter().any(opaque)
}

fn below(part: &Part) {
    for child in &part.parts {
        assert!(child.class <= part.class, "a part is never worse than the whole");
        below(child);
    }
}
