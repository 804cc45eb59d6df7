//! What a command left: its status, its streams, the time it took.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// The end of a command.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its wait status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// From its start to its end.
    pub took: Duration,
}

impl Outcome {
    /// Standard output as text.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Its exit status; 128 + n for a signal.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// The denial lines on standard error.
    #[must_use]
    pub fn denials(&self) -> Vec<String> {
        self.err().lines().filter(|l| l.starts_with("stayexec: denied (")).map(str::to_owned).collect()
    }

    /// Asserts the exit status.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(self.code(), code, "{}", self.told());
        self
    }

    /// Asserts that standard output holds `line` as a line.
    #[track_caller]
    pub fn expect_line(&self, line: &str) -> &Self {
        assert!(self.out().lines().any(|l| l == line), "no line {line:?}: {}", self.told());
        self
    }

    /// Asserts that standard error is empty: the gate says nothing where nothing is refused.
    #[track_caller]
    pub fn expect_quiet(&self) -> &Self {
        assert!(self.stderr.is_empty(), "{}", self.told());
        self
    }

    /// Asserts that standard error is one line, that it is stayexec's, and returns it.
    #[track_caller]
    pub fn expect_one_line(&self) -> String {
        let err = self.err();
        let lines: Vec<&str> = err.lines().collect();
        let one = matches!(lines[..], [line] if line.starts_with("stayexec: ") && line.len() > 20);
        assert!(one && err.ends_with('\n'), "not one clear line: {}", self.told());
        err.trim_end().to_owned()
    }

    /// The number behind `word` on standard output, as in `status 126`.
    #[track_caller]
    #[must_use]
    pub fn number(&self, word: &str) -> i64 {
        let out = self.out();
        let mut words = out.split_whitespace().skip_while(|w| *w != word).skip(1);
        words.next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("no number behind {word:?}: {}", self.told()))
    }

    /// Everything, for a failure's message.
    #[must_use]
    pub fn told(&self) -> String {
        let cut = |text: String| text.chars().take(4000).collect::<String>();
        format!("{} after {:?}\n--- stdout\n{}\n--- stderr\n{}", self.status, self.took, cut(self.out()), cut(self.err()))
    }
}
