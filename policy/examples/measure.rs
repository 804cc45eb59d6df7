//! Classifies the `command` (or `argv`) of every line of a JSON-lines file and compares it with `class`, `also_right`
//! or `verdict`, where the line has them; an `argv` with `exe` counts as a start of that file. Prints what differs and how
//! long a line took.
//!
//! `cargo run --release -p stayexec-policy --example measure -- FILE`

use std::time::Instant;

use stayexec_policy::{CommandClass, Exec, FileFacts, Part, Places, SecurityPolicy, Stdin};

/// A start of this file, as if everybody believed it.
fn start(policy: &SecurityPolicy, file: &str, argv: &[String]) -> Part {
    let argv: Vec<Vec<u8>> = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
    let path = file.as_bytes();
    let file = FileFacts { path, root_owned: true, chain_root_owned: true, unchanged: true, same_view: true, linker_trusted: true };
    let exec = Exec { argv: &argv, environment: &[], baseline: &[], cwd: b"/", file, script: None, stdin: Stdin::Null };
    policy.explain_argv(&exec, &Places::default())
}

fn main() {
    let path = std::env::args().nth(1).expect("a file of JSON lines");
    let text = std::fs::read_to_string(&path).expect("cannot read the file");
    let policy = SecurityPolicy::default();
    let _ = policy.classify_command("ls");
    let (mut right, mut total, mut reads, mut quiet, mut passed) = (0, 0, 0, 0, 0);
    let mut times = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let value: serde_json::Value = serde_json::from_str(line).expect("a JSON object a line");

        let (shown, part) = match (value["command"].as_str(), value["argv"].as_array()) {
            (Some(command), _) => (command.to_owned(), policy.explain_command(command)),
            (None, Some(argv)) => {
                let argv: Vec<String> = argv.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
                let file = value["real"].as_str().or(value["exe"].as_str());
                (argv.join(" "), file.map_or_else(|| policy.explain_words(&argv), |file| start(&policy, file, &argv)))
            }
            _ => continue,
        };

        let begin = Instant::now();
        let _ = policy.classify_command(&shown);
        times.push(begin.elapsed());
        total += 1;
        let deciding = part.deciding();
        let entry = deciding.entry.clone().unwrap_or_default();
        if let Some(class) = value["class"].as_str() {
            let class: CommandClass = class.parse().expect("a class");
            let also: Vec<CommandClass> =
                value["also_right"].as_array().into_iter().flatten().filter_map(|word| word.as_str()?.parse().ok()).collect();
            let good = part.class == class || also.contains(&part.class);
            right += usize::from(good);
            if class == CommandClass::Read && also.is_empty() {
                reads += 1;
                quiet += usize::from(part.class == CommandClass::Read);
            }
            if !good {
                println!("{} instead of {class}: {shown}\n    {:?} {} {entry}", part.class, deciding.code, deciding.reason);
            }
        } else if value["verdict"].as_str() == Some("blocked") {
            passed += usize::from(part.class == CommandClass::Read);
            if part.class == CommandClass::Read {
                println!("blocked is read: {shown}");
            }
        } else if value["verdict"].is_null() {
            println!("{:11} {}", part.class.as_str(), shown.chars().take(200).collect::<String>().replace('\n', "⏎"));
        }
    }
    times.sort();
    let at = |share: f64| times.get(((times.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default();
    println!("{total} lines, {right} right, {quiet} of {reads} plain reads quiet, {passed} blocked passed");
    println!("median {:?}, p99 {:?}, p99.9 {:?}, most {:?}", at(0.5), at(0.99), at(0.999), at(1.0));
}
