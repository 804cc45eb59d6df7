//! Variables that a shell sets by itself.
//!
//! Invariant: what a text gives to one of the first list is not what it holds; what the second holds is never an option.

/// Variables that the shell sets by itself, or that no assignment sets: what a text gives them is not what they hold.
pub(super) fn shells_own(name: &str) -> bool {
    const OWN: &[&str] = &[
        "_",
        "REPLY",
        "OPTARG",
        "OPTIND",
        "OPTERR",
        "MAPFILE",
        "COPROC",
        "PIPESTATUS",
        "RANDOM",
        "SRANDOM",
        "SECONDS",
        "LINENO",
        "GROUPS",
        "FUNCNAME",
        "DIRSTACK",
        "PWD",
        "OLDPWD",
        "UID",
        "EUID",
        "PPID",
        "HISTCMD",
        "SHELLOPTS",
        "SHLVL",
        "COLUMNS",
        "LINES",
        "match",
        "mbegin",
        "mend",
        "MATCH",
        "MBEGIN",
        "MEND",
        "status",
        "pipestatus",
        "ERRNO",
        "READLINE_LINE",
        "READLINE_POINT",
    ];
    OWN.contains(&name) || ["BASH", "EPOCH", "COMP_"].iter().any(|head| name.starts_with(head))
}

/// Variables that a shell or a login sets: paths, names and numbers.
const PLAIN: &[&str] = &[
    "HOME",
    "PWD",
    "OLDPWD",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "HOSTNAME",
    "SHELL",
    "UID",
    "EUID",
    "PPID",
    "BASHPID",
    "SHLVL",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "COLUMNS",
    "LINES",
    "?",
    "$",
    "!",
    "#",
];

pub(in crate::classify) fn is_plain(name: &str) -> bool {
    name.len() <= 12 && PLAIN.contains(&name)
}

/// Arrays that a shell has by itself.
pub(super) fn is_array(name: &str) -> bool {
    matches!(name, "DIRSTACK" | "PIPESTATUS" | "FUNCNAME" | "GROUPS" | "MAPFILE" | "COPROC")
        || name.starts_with("BASH_")
        || name.starts_with("COMP_")
}

/// Variables that always are one word, if their values hold no blanks.
pub(in crate::classify) fn is_one_word(name: &str) -> bool {
    matches!(name, "HOME" | "PWD" | "?" | "#" | "$" | "UID" | "EUID" | "PPID" | "RANDOM" | "SECONDS" | "LINENO" | "BASHPID" | "SHLVL")
}

/// Directories may have any name.
pub(in crate::classify) fn may_hold_blanks(name: &str) -> bool {
    matches!(name, "PWD" | "OLDPWD" | "TMPDIR")
}
