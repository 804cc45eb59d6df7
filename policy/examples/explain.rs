//! Prints the tree of parts of the shell text on its standard input.

use stayexec_policy::{Part, SecurityPolicy};

fn show(part: &Part, depth: usize) {
    let text: String = part.text.chars().take(100).collect();
    let entry = part.entry.clone().unwrap_or_default();
    println!(
        "{:indent$}{} {} [{:?}] {entry}  {}",
        "",
        part.class,
        part.reason,
        part.code,
        stayexec_policy::display::text(&text, false),
        indent = depth * 2
    );
    for below in &part.parts {
        show(below, depth + 1);
    }
}

fn main() {
    let text = std::io::read_to_string(std::io::stdin()).expect("cannot read the standard input");
    show(&SecurityPolicy::default().explain_command(&text), 0);
}
