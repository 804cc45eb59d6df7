//! A second parser's opinion: every command that tree-sitter-bash names is one that this crate has seen too, or the text
//! is not Read.
//!
//! tree-sitter-bash has silent misses of its own (backticks in here-documents, continuation lines in words), so it is
//! no oracle for what must *not* be seen.

mod common;

use std::path::Path;

use stayexec_policy::forbidden::Operands;
use stayexec_policy::{CommandClass, SecurityPolicy};

fn named<'t>(node: tree_sitter::Node<'_>, text: &'t str, out: &mut Vec<&'t str>) {
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if node.kind() == "command_name"
            && let Some(name) = text.get(node.byte_range())
        {
            out.push(name);
        }
        for at in 0..node.child_count() {
            stack.extend(node.child(at));
        }
    }
}

fn plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
}

#[test]
fn nothing_is_missed_that_another_parser_sees() {
    let policy = SecurityPolicy::default();
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    // A text of several lines counts line by line as well.
    let parts = |text: String| {
        if text.contains('\n') { std::iter::once(text.clone()).chain(text.lines().map(str::to_owned)).collect() } else { vec![text] }
    };
    let lines: Vec<String> = common::corpus().into_iter().flat_map(|case| parts(case.text)).filter(|line| line.len() < 4096).collect();
    // Two lines at a time as well: what one leaves open must not hide the other.
    let pairs = lines.windows(2).map(|pair| format!("{}; {}", pair[0], pair[1]));
    let mut seen = 0;
    for text in lines.iter().cloned().chain(pairs) {
        let Some(tree) = parser.parse(&text, None) else { continue };
        if tree.root_node().has_error() || policy.classify_command(&text) > CommandClass::Read {
            continue;
        }
        let mut names = Vec::new();
        named(tree.root_node(), &text, &mut names);
        let ours = Operands::of_command(&policy, &text, Path::new("/w"), Path::new("/h")).commands;
        // `time` is a reserved word here and a command there.
        for name in names.into_iter().filter(|name| plain(name) && *name != "time") {
            seen += 1;
            assert!(
                ours.iter().any(|words| words.first().is_some_and(|first| first == name)),
                "{name:?} is not seen in {text:?}: {ours:?}"
            );
        }
    }
    assert!(seen > 500, "only {seen} names were compared");
}
