//! `[http]` and `[notify]`: what a supervisor offers or tells outside of terminals.
//!
//! They belong to the person, not to a run: the supervisor reads them once, when it starts; of a run that was started with
//! another `[notify]` it tells nobody. Invariant: the managed file's
//! table counts where it has one, else the user's. Refuses a workspace file that has either, since the agent can write it,
//! an address that others can reach, and a command that is no absolute path.

use super::document::{Document, HttpTable, NotifyTable};
use super::layers::read_regular;
use super::{ConfigError, Source};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the two tables say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outward {
    /// `[http] listen`.
    pub listen: Option<SocketAddr>,
    /// `[http] allow_hosts`.
    pub allow_hosts: Vec<String>,
    /// `[notify] command`.
    pub notify: Vec<String>,
}

/// Reads both files; a missing one says nothing.
///
/// # Errors
/// [`ConfigError::Read`] and [`ConfigError::Parse`].
pub fn outward(managed: &Path, user: Option<&Path>) -> Result<Outward, ConfigError> {
    let managed = tables(managed)?;
    let user = user.map(tables).transpose()?.unwrap_or_default();
    let http = managed.0.or(user.0).unwrap_or_default();
    let notify = managed.1.or(user.1).unwrap_or_default();
    Ok(Outward { listen: http.listen, allow_hosts: http.allow_hosts, notify: notify.command })
}

fn tables(path: &Path) -> Result<(Option<HttpTable>, Option<NotifyTable>), ConfigError> {
    let Some(text) = read_regular(path)? else { return Ok((None, None)) };
    let document = Document::parse(&text, path)?;
    check(&document, path)?;
    Ok((document.http, document.notify))
}

/// What is wrong with the two tables of a file.
pub(super) fn check(document: &Document, path: &Path) -> Result<(), ConfigError> {
    let wrong = |message: &str| ConfigError::Parse { path: path.to_owned(), line: 1, message: message.to_owned() };
    if let Some(listen) = document.http.as_ref().and_then(|http| http.listen)
        && !listen.ip().is_loopback()
    {
        return Err(wrong(&format!("http.listen = \"{listen}\" is no loopback address; listen on 127.0.0.1 or [::1]")));
    }
    match document.notify.as_ref().map(|notify| notify.command.first()) {
        Some(Some(program)) if !Path::new(program).is_absolute() => Err(wrong("notify.command has to begin with an absolute path")),
        Some(None) => Err(wrong("notify.command is empty; name a program, or leave the table out")),
        _ => Ok(()),
    }
}

/// Where a workspace file has one of the tables.
pub(super) fn source_of(document: &Document, path: &Path) -> Option<(Source, &'static str)> {
    let key = document.http.as_ref().map(|_| "http").or_else(|| document.notify.as_ref().map(|_| "notify"))?;
    Some((Source::File(Arc::new(PathBuf::from(path)), 1), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(managed: &str, user: &str) -> Result<Outward, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (one, two) = (dir.path().join("managed.toml"), dir.path().join("config.toml"));
        std::fs::write(&one, managed).and_then(|()| std::fs::write(&two, user)).map_err(|e| e.to_string())?;
        outward(&one, Some(&two)).map_err(|e| e.to_string())
    }

    #[test]
    fn a_managed_table_counts_and_addresses_stay_on_loopback() -> Result<(), String> {
        let user = "[http]\nlisten = \"127.0.0.1:8000\"\nallow_hosts = [\"box\"]\n[notify]\ncommand = [\"/bin/true\"]\n";
        let read_user = read("", user)?;
        assert_eq!((read_user.listen.map(|at| at.port()), read_user.notify.len()), (Some(8000), 1));
        assert_eq!(read("[http]\n", user)?.listen, None);
        assert!(read("", "[http]\nlisten = \"0.0.0.0:1\"").is_err_and(|e| e.contains("no loopback address")));
        assert!(read("", "[notify]\ncommand = [\"notify-send\"]").is_err_and(|e| e.contains("absolute path")));
        assert!(read("", "[notify]\ncommand = []").is_err());
        Ok(())
    }
}
