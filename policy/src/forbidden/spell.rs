//! The spellings of a path: `~`, `$HOME`, `..`, `//`, `/proc/self/root`, braces, and words that hold a path besides.
//!
//! Nothing is looked up: a word comes to every path that it may stand for.

use std::path::{Path, PathBuf};

use crate::classify::args::UNKNOWN;
use crate::classify::lexical;

/// Alternatives of braces that are followed.
const MAX_ALTERNATIVES: usize = 64;

/// Words that may hold a path: the word, what stands behind `=`, `@` or a letter of an option, and the parts of a list.
pub(super) fn candidates(word: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in braces(word) {
        let word = word.as_str();
        let after = word.split_once('=').map(|(_, value)| value);
        let attached = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
        let at = [Some(word), after, attached].into_iter().flatten().filter_map(|part| part.strip_prefix('@'));
        let scheme = word.strip_prefix("file://");
        let listed =
            word.contains(':').then(|| word.split(':')).into_iter().flatten().filter(|part| part.contains('/') || part.starts_with('~'));
        let parts = std::iter::once(word).chain(after).chain(attached).chain(at).chain(scheme).chain(listed);
        out.extend(parts.filter(|candidate| !candidate.is_empty()).map(str::to_owned));
    }
    out
}

/// `a{b,c}d` as `abd` and `acd`; past the cap the rest stays as it is.
fn braces(word: &str) -> Vec<String> {
    let (mut done, mut open) = (Vec::new(), vec![word.to_owned()]);
    while let Some(next) = open.pop() {
        match alternatives(&next) {
            Some(several) if done.len() + open.len() + several.len() <= MAX_ALTERNATIVES => open.extend(several),
            _ => done.push(next),
        }
    }
    done.sort();
    done.dedup();
    done
}

/// The alternatives of the first innermost pair of braces that has a comma.
fn alternatives(word: &str) -> Option<Vec<String>> {
    let mut from = 0;
    while let Some(close) = word[from..].find('}').map(|at| from + at) {
        if let Some(open) = word[..close].rfind('{')
            && open >= from.saturating_sub(1)
        {
            let inside = &word[open + 1..close];
            if inside.contains(',') {
                return Some(inside.split(',').map(|part| format!("{}{part}{}", &word[..open], &word[close + 1..])).collect());
            }
        }
        from = close + 1;
    }
    None
}

/// The word stands for itself wherever it is used: it is absolute, or begins at a home directory.
pub(super) fn is_anchored(word: &str) -> bool {
    word.starts_with(['/', '~', UNKNOWN]) || word.starts_with("$HOME") || word.starts_with("${HOME}")
}

/// `~`, `$HOME`, `..`, `//` and `/proc/self/root` taken away, against `cwd` and `home`.
pub(super) fn resolve(word: &str, cwd: &Path, home: &Path) -> PathBuf {
    let home = home.to_string_lossy();
    let rest_of_path = |rest: &&str| rest.is_empty() || rest.starts_with('/');
    let expanded = if let Some(rest) = word.strip_prefix('~') {
        let (user, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        match user {
            "" => format!("{home}{rest}"),
            "root" => format!("/root{rest}"),
            user if user.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) => {
                format!("/home/{user}{rest}")
            }
            _ => word.to_owned(),
        }
    } else if let Some(rest) = ["$HOME", "${HOME}"].iter().find_map(|name| word.strip_prefix(name)).filter(rest_of_path) {
        format!("{home}{rest}")
    } else if let Some(rest) = word.strip_prefix(UNKNOWN).filter(|rest| rest.starts_with('/')) {
        // `$HOME/…` and any other variable in front: the home directory is the likely one.
        format!("{home}{rest}")
    } else {
        word.to_owned()
    };
    let cwd = cwd.to_string_lossy();
    let mut path = if expanded.starts_with('/') { expanded } else { format!("{cwd}/{expanded}") };
    while let Some(rest) = of_process(&path, &cwd) {
        path = rest;
    }
    path = lexical(&path);
    while let Some(rest) = of_process(&path, &cwd) {
        path = lexical(&rest);
    }
    PathBuf::from(path)
}

/// `/proc/self/root/x` and its kin are `/x`, `/proc/self/cwd/x` is `x`; `..` behind them is that of the place they lead to.
fn of_process(path: &str, cwd: &str) -> Option<String> {
    let rest = path.trim_start_matches('/').strip_prefix("proc/")?;
    let (who, rest) = rest.split_once('/')?;
    let known = matches!(who, "self" | "thread-self") || (!who.is_empty() && who.bytes().all(|byte| byte.is_ascii_digit()));
    let place = |name: &str| rest.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let led = place("root").map(|rest| format!("/{rest}")).or_else(|| place("cwd").map(|rest| format!("{cwd}/{rest}")));
    led.filter(|_| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let (cwd, home) = (Path::new("/home/dev/proj"), Path::new("/home/dev"));
        for (word, path) in [
            ("~/x", "/home/dev/x"),
            ("~root/x", "/root/x"),
            ("~other", "/home/other"),
            ("../x", "/home/dev/x"),
            ("/proc/self/root/etc/../x", "/x"),
            ("/proc/1/root/proc/self/root/x", "/x"),
            ("/proc/self/cwd/../x", "/home/dev/x"),
            ("//proc/self/root/x", "/x"),
            ("~+/x", "/home/dev/proj/~+/x"),
        ] {
            assert_eq!(resolve(word, cwd, home), Path::new(path), "{word}");
        }
    }

    #[test]
    fn braces_are_followed_up_to_a_cap() {
        let all = braces("~/{a,{b,c}d}/{x,y}");
        assert_eq!(all, ["~/a/x", "~/a/y", "~/bd/x", "~/bd/y", "~/cd/x", "~/cd/y"]);
        assert!(braces(&"{a,b}".repeat(40)).len() <= MAX_ALTERNATIVES);
        assert_eq!(braces("{x}"), ["{x}"]);
        assert_eq!(braces("}{"), ["}{"]);
    }
}
