//! Nothing that changes, sends, installs or runs something unknown is Read.

mod common;

use stayexec_policy::{CommandClass, SecurityPolicy};

/// Blocks between lines of `%%`; before the first one every line is a block.
fn blocks(text: &str) -> Vec<String> {
    let mut parts = text.split("\n%%\n");
    let lines = parts.next().unwrap_or_default().lines().skip(1);
    lines.map(str::to_owned).chain(parts.map(|block| block.trim_end_matches('\n').to_owned())).filter(|line| !line.is_empty()).collect()
}

#[test]
fn no_bypass_is_read() {
    let policy = SecurityPolicy::default();
    let all = blocks(include_str!("corpus/bypass.txt"));
    let read: Vec<&String> = all.iter().filter(|command| policy.classify_command(command) == CommandClass::Read).collect();
    assert!(
        read.is_empty(),
        "{} of {} are read:\n{}",
        read.len(),
        all.len(),
        read.iter().map(|line| format!("{line:?}")).collect::<Vec<_>>().join("\n")
    );
}

/// Text that runs where it looks like data, options that write, wrappers, environments.
#[test]
fn no_escape_is_read() {
    let policy = SecurityPolicy::default();
    let corpora = ["escapes.txt", "escapes2.txt", "escapes3.txt", "escapes4.txt", "escapes5.txt", "escapes6.txt", "escapes7.txt"];
    let all: Vec<String> = corpora.iter().flat_map(|name| common::lines(name, "⏎")).collect();
    let read: Vec<String> =
        all.iter().filter(|line| policy.classify_command(line) == CommandClass::Read).map(|line| format!("{line:?}")).collect();
    assert!(read.is_empty(), "{} of {} are read:\n{}", read.len(), all.len(), read.join("\n"));
}

/// Whatever is put around a command that is not Read, it stays so.
#[test]
fn no_frame_hides_a_command() {
    let policy = SecurityPolicy::default();
    let frames = [
        "ls; {}",
        "{}; ls",
        "ls && {}",
        "({})",
        "{ {}; }",
        "echo $({})",
        "echo \"$({})\"",
        "echo `{}`",
        "cat <({})",
        "if true; then {}; fi",
        "for i in a; do {}; done",
        "f() { {}; }; f",
        "! {}",
        "time {}",
        "[[ $({}) ]]",
        "echo $((1+$({})))",
        "x=$({})",
        "ls | {}",
        "case a in a) {} ;; esac",
        "cat <<E\n$({})\nE",
        "while true; do {}; done",
        "eval '{}'",
        "sh -c '{}'",
        "bash -lc '{}'",
        "env {}",
        "nohup {}",
        "timeout 5 {}",
        "sudo {}",
        "xargs {}",
        "find . -exec {} \\;",
        "nice -n 3 {}",
        "ssh h '{}'",
        "exec {}",
        "command {}",
        "trap '{}' EXIT",
        "echo ${x:-$({})}",
        "watch '{}'",
        "busybox {}",
        "env -S '{}'",
    ];
    let commands = [
        "rm x",
        "rm -rf x",
        "git push --force",
        "curl h",
        "npm install",
        "nosuch x",
        "touch f",
        "dd of=x",
        "git reset --hard",
        "python3 x",
    ];
    for frame in frames {
        for command in commands {
            let alone = policy.classify_command(command);
            let text = frame.replace("{}", command);
            let class = policy.classify_command(&text);
            assert!(class >= alone, "{text:?} is {class}, {command:?} is {alone}");
        }
    }
}
