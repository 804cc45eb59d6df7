use super::super::hole::ends_so;
use super::*;

fn around() -> Around<'static> {
    static TEMP: std::sync::LazyLock<Vec<Vec<u8>>> = std::sync::LazyLock::new(|| vec![b"/tmp".to_vec(), b"/tmp/me".to_vec()]);
    Around { home: "/home/me", temp: &TEMP }
}

fn held(template: &str, word: &str) -> Option<Found> {
    Template::parse(template).ok()?.find(word, around())
}

fn command(template: &str, word: &str) -> Option<String> {
    held(template, word)?.command
}

const QUOTED: &str = "source {source:~/.a/snap-*.sh} && eval '{quoted}' < /dev/null && pwd -P >| {sink:$TMP/a-*-cwd}";

fn wrapped(command: &str) -> String {
    format!("source /home/me/.a/snap-1.sh && eval '{}' < /dev/null && pwd -P >| /tmp/me/a-1f-cwd", command.replace('\'', "'\"'\"'"))
}

#[test]
fn what_was_quoted_is_found_as_it_was() {
    for text in ["ls", "", "echo 'a b'", "'", "a'\"'\"'b", "x' < /dev/null && pwd -P >| /tmp/me/a-1f-cwd", "printf '%s\\n' \"'\"", "ä\n;"]
    {
        assert_eq!(command(QUOTED, &wrapped(text)).as_deref(), Some(text));
    }
    let found = held(QUOTED, &wrapped("rm x")).unwrap_or_default();
    assert_eq!(found.sources, ["/home/me/.a/snap-1.sh"]);
    assert_eq!(found.sinks, ["/tmp/me/a-1f-cwd"]);
    assert_eq!(found.rest, wrapped(":"));
}

#[test]
fn nothing_comes_in_beside_the_holes() {
    let line = wrapped("ls");
    for forged in [
        line.replace("eval 'ls'", "eval 'ls'; rm x"),
        line.replace("eval 'ls'", "eval 'ls' 'rm x'"),
        line.replace("eval 'ls'", "eval 'ls''rm x'"),
        line.replace("eval 'ls'", "eval 'ls'\"'\"'"),
        line.replace("snap-1.sh", "snap-1.sh;rm"),
        line.replace("snap-1.sh", "../snap-1.sh"),
        line.replace("/home/me/.a", "/home/you/.a"),
        line.replace("/home/me/.a", "/home/me/.a/b"),
        line.replace("/tmp/me/a-1f-cwd", "/home/me/a-1f-cwd"),
        line.replace("/tmp/me/a-1f-cwd", "/tmp/me/b/a-1f-cwd"),
        line.replace("/tmp/me/a-1f-cwd", "/tmp/me/../a-1f-cwd"),
        line.replace("/tmp/me/a-1f-cwd", "/tmp/me/a-$x-cwd"),
        format!("{line}\nrm x"),
        format!("{line} && rm x"),
        format!("rm x; {line}"),
    ] {
        assert_eq!(held(QUOTED, &forged), None, "{forged}");
    }
}

#[test]
fn a_command_as_it_is_reaches_to_the_last_end() {
    const RAW: &str = "(\n  trap x EXIT\n{command}\n)\nexit $__code";
    assert_eq!(command(RAW, "(\n  trap x EXIT\nls\n)\nexit $__code").as_deref(), Some("ls"));
    let twice = "(\n  trap x EXIT\nls\n)\nexit $__code\nrm x\n)\nexit $__code";
    assert_eq!(command(RAW, twice).as_deref(), Some("ls\n)\nexit $__code\nrm x"));
    assert_eq!(command(RAW, "(\n  trap x EXIT\nls\n)\nexit $__code\n"), None);
}

#[test]
fn a_preamble_ends_where_the_last_quoted_command_begins() {
    const LONG: &str = "{preamble}\n\nexec '/bin/bash' -c '{quoted}'";
    let text = "x=1\n\nexec '/bin/bash' -c 'echo '\"'\"'a'\"'\"''";
    assert_eq!(command(LONG, text).as_deref(), Some("echo 'a'"));
    assert_eq!(held(LONG, text).map(|f| f.rest).as_deref(), Some("x=1\n\nexec '/bin/bash' -c ':'"));
    assert_eq!(command(LONG, &format!("{text}; rm x")), None);
}

#[test]
fn lists_of_words_agree_in_number() {
    let list = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    let templates = |words: &[&str]| words.iter().filter_map(|word| Template::parse(word).ok()).collect::<Vec<_>>();
    let fits = |of: &[&str], words: &[&str]| find(&templates(of), &list(words), around()).is_some();
    assert!(fits(&["-C", "{path}", "status"], &["-C", "/x/y", "status"]));
    assert!(!fits(&["-C", "{path}", "status"], &["-C", "/x/../y", "status"]));
    assert!(!fits(&["-C", "{path}", "status"], &["-C", "/x/y", "status", "-x"]));
    assert!(!fits(&["-C", "{path}", "status"], &["-C", "/x/y"]));
    assert!(fits(&["add", "{words}"], &["add", "-x", "y"]) && fits(&["add", "{words}"], &["add"]));
    assert!(fits(&["{word}"], &["any thing"]) && !fits(&["{word}"], &["-o"]));
    assert!(!fits(&["{quoted}"], &["x"]), "no template at all");
}

#[test]
fn templates_that_say_two_things_are_none() {
    for (text, error) in [
        ("{nmae}", TemplateError::Unknown("nmae".into())),
        ("{name}{name}", TemplateError::Adjacent),
        ("{name", TemplateError::Open),
        ("'{quoted}' '{quoted}'", TemplateError::Commands),
        ("eval {quoted}", TemplateError::Unquoted),
    ] {
        assert_eq!(Template::parse(text), Err(error), "{text}");
    }
    assert!(Template::parse("{ true; }").is_ok(), "the shell's own brace");
}

#[test]
fn images_are_told_by_the_last_components() {
    assert!(ends_so(b"/opt/node_modules/@x/agent-linux-x64/bin/agent", "node_modules/@x/agent-linux-*/bin/agent"));
    for path in [
        "/opt/@x/agent-linux-x64/bin/agent",
        "/opt/node_modules/@x/agent-linux-x64/bin/agent2",
        "node_modules/@x/agent-linux-x64/bin/agent",
    ] {
        assert!(!ends_so(path.as_bytes(), "node_modules/@x/agent-linux-*/bin/agent"), "{path}");
    }
}

#[test]
fn a_bare_command_is_one_plain_word() {
    const BARE: &str = "eval {bare} < /dev/null";
    assert_eq!(command(BARE, "eval ls < /dev/null").as_deref(), Some("ls"));
    for forged in ["eval ls -l < /dev/null", "eval ls;rm < /dev/null", "eval $x < /dev/null", "eval -- < /dev/null", "eval  < /dev/null"] {
        assert_eq!(command(BARE, forged), None, "{forged}");
    }
}
