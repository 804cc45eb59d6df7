//! `[classify] workspace_only`: what of a command's operands lies outside the workspace.
//!
//! The operands are those of [`forbidden`](crate::forbidden): of the words, of a text in them, and of redirections. Text in
//! data positions is none, and a program that is called by its path is not read by that.

use std::path::Path;

use crate::classify::{args::UNKNOWN, is_sink};
use crate::forbidden::{Operand, Operands, Resolve};
use crate::{Exec, Places};

impl Operands {
    /// The first operand that lies outside `workspace`, or that nobody can tell before the text runs; `skip` leaves some out.
    #[must_use]
    pub fn outside(&self, workspace: &Path, resolve_links: Resolve<'_>, skip: &dyn Fn(&Operand) -> bool) -> Option<&Operand> {
        self.opened.iter().filter(|operand| operand.program != operand.word && !operand.besides && !skip(operand)).find(|operand| {
            // A shell opens it itself: no start will show what the word became.
            let hidden = operand.program == "<" && operand.word.contains(UNKNOWN);
            let beyond = |path: &Path| !path.starts_with(workspace) && !path.to_str().is_some_and(is_sink);
            hidden || beyond(&operand.path) || resolve_links(&operand.path).is_some_and(|led| beyond(&led))
        })
    }

    /// As [`outside`](Self::outside), of a start as it is written; a program's own script is no operand where it is believed.
    pub(crate) fn outside_of_exec(&self, start: &Exec<'_>, places: &Places<'_>) -> Option<&Operand> {
        let script = start.script.filter(|script| script.interpreted_by_kernel && script.file.trusted(places));
        let script = script.map(|script| String::from_utf8_lossy(script.path));
        let workspace = String::from_utf8_lossy(places.workspace);
        self.outside(Path::new(&*workspace), &|_| None, &|operand| script.as_ref().is_some_and(|script| *script == operand.word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecurityPolicy;

    fn outside(text: &str) -> bool {
        let operands = Operands::of_command(&SecurityPolicy::default(), text, Path::new("/home/dev/proj"), Path::new("/home/dev"));
        let links = |path: &Path| (path == Path::new("/home/dev/proj/link")).then(|| "/etc/passwd".into());
        operands.outside(Path::new("/home/dev/proj"), &links, &|_| false).is_some()
    }

    #[test]
    fn operands_and_redirections_count() {
        for text in [
            "cat /etc/passwd",
            "sh -c 'cat /etc/passwd'",
            "cat ../other/x",
            "cat ~/notes",
            "cat $HOME/notes",
            "ls | grep -f /etc/shells",
            "read x < /etc/passwd",
            "read x < \"$f\"",
            "cd / && ls",
            "cat link",
            "head -n 3 src/../../x",
            "find / -name x",
            "cat /home/dev/project/x",
            "wc $(cat /etc/x)",
        ] {
            assert!(outside(text), "{text}");
        }
    }

    #[test]
    fn what_stays_inside_is_no_question() {
        for text in [
            "cat src/main.rs",
            "cat /home/dev/proj/x",
            "cat < x 2>/dev/null",
            "grep /etc/passwd README.md",
            "echo /etc/passwd",
            "/usr/bin/ls src",
            "cat src/../x",
            "ls *.c | wc -l",
            "git log -- src",
        ] {
            assert!(!outside(text), "{text}");
        }
    }
}
