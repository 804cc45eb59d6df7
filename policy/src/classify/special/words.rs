//! Programs that are told what to do by words of their own: `command -v`, `less +…`, `ip OBJECT VERB`, the verbs of clouds.

use super::super::args::Arg;
use super::super::judge::{Judge, Raise, Scope};
use super::super::payload::deeper;
use super::super::vet::vet;
use super::{Call, raise};
use crate::{CommandClass, Part};

/// `command -v NAME` only looks; otherwise, and where what follows has options of its own, the rest is run.
pub(super) fn command(call: &Call<'_>, _out: &mut Part) -> bool {
    let options = call.args.iter().map_while(|arg| arg.full().filter(|text| text.starts_with('-') && text.len() > 1 && *text != "--"));
    let looks = options.clone().any(|text| text[1..].chars().all(|c| matches!(c, 'v' | 'V' | 'p')) && text.contains(['v', 'V']));
    looks && !call.args[options.count()..].iter().any(|arg| arg.text.starts_with('-') && arg.text.len() > 2)
}

/// `less +COMMAND`: a command of the pager, of which some run programs.
pub(super) fn less(call: &Call<'_>, out: &mut Part) -> bool {
    for arg in call.args.iter().filter(|arg| arg.text.starts_with('+')) {
        let rest = arg.text.trim_start_matches('+');
        let harmless = rest.bytes().all(|byte| byte.is_ascii_digit())
            || matches!(rest, "F" | "G" | "g")
            || (rest.starts_with('/') && !rest.contains(['\n', '!', '|']));
        if !harmless {
            raise(out, call, CommandClass::Write, "a command for the pager");
        }
    }
    // A pattern ends with its line, and where less is more it is a command itself.
    let vetted = vet(call.entry, call.args);
    let pattern = vetted.value(&["-p", "--pattern"]);
    let runs = pattern.is_some_and(|value| value.text.contains(['\n', '!', '|']) || value.is_open());
    if runs || call.args.iter().any(|arg| arg.shifts && arg.text.contains('+')) {
        raise(out, call, CommandClass::Write, "a pattern that may be a command for the pager");
    }
    false
}

/// `ip [options] OBJECT [show …]`, and `ip netns exec NAME COMMAND`.
pub(super) fn ip(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    let vetted = vet(call.entry, call.args);
    for finding in &vetted.findings {
        out.raise_at(finding.clone(), call.entry.at);
    }
    let words: Vec<_> = vetted.operands.iter().map(|&at| &call.args[at]).collect();
    if words.first().is_some_and(|arg| arg.is_open()) {
        raise(out, call, CommandClass::Write, "an object that is only known when it runs");
    }
    let object = words.first().and_then(|arg| arg.full()).unwrap_or_default();
    if object.starts_with('n')
        && let Some(at) = words.iter().position(|arg| arg.full() == Some("exec"))
    {
        let payload: Vec<_> = words.iter().skip(at + 2).map(|arg| (*arg).clone()).collect();
        let child = judge.external(&payload, &deeper(scope));
        out.add(child, judge.explain);
        raise(out, call, CommandClass::Write, "ip netns exec");
        return true;
    }
    let known = [
        "a",
        "addr",
        "address",
        "l",
        "link",
        "r",
        "route",
        "n",
        "neigh",
        "neighbour",
        "neighbor",
        "rule",
        "ru",
        "netns",
        "tunnel",
        "maddr",
        "mroute",
        "ntable",
        "vrf",
        "tcp_metrics",
        "monitor",
    ];
    let shows = matches!(
        words.get(1).map(|arg| arg.full().unwrap_or_default()),
        None | Some("show" | "list" | "ls" | "sh" | "get" | "lst" | "help")
    );
    // `s` is `show` only where no other verb comes first: `ip link s` sets.
    let short =
        matches!(object, "a" | "addr" | "address" | "r" | "route" | "n" | "neigh") && words.get(1).and_then(|arg| arg.full()) == Some("s");
    let word = |at: usize| words.get(at).map(|arg| arg.full().unwrap_or_default());
    let transforms = object == "xfrm" && matches!((word(1), word(2)), (Some("state" | "policy"), None | Some("list" | "show" | "ls")));
    if !(object.is_empty() || (known.contains(&object) && (shows || short)) || transforms) {
        raise(out, call, CommandClass::Write, "changes the network of this machine");
    }
    true
}

/// `iw dev NAME VERB`: a verb that shows.
pub(super) fn iw(call: &Call<'_>, out: &mut Part) -> bool {
    let words: Vec<_> = call.args.iter().map(|arg| arg.full().unwrap_or("?")).collect();
    let shows =
        matches!(words.as_slice(), [] | [_] | [_, "info" | "link"] | [_, "station" | "scan" | "survey" | "mpath", "dump"] | [_, "get", ..]);
    if !shows {
        raise(out, call, CommandClass::Write, "changes a network device");
    }
    false
}

/// Forges: words that delete, wherever they stand, and calls of their interface that do.
pub(super) fn forge(call: &Call<'_>, out: &mut Part) -> bool {
    let deletes =
        |word: &str| matches!(word, "delete" | "delete-asset" | "archive" | "DELETE" | "-XDELETE" | "--method=DELETE" | "--delete-branch");
    if call.args.iter().any(|arg| deletes(&arg.text)) {
        raise(out, call, CommandClass::Destructive, "deletes something at a forge");
    }
    false
}

/// `sysctl name=value` writes.
pub(super) fn sysctl(call: &Call<'_>, out: &mut Part) -> bool {
    if call.args.iter().any(|arg| arg.text.contains('=') && !arg.text.starts_with("--pattern")) {
        raise(out, call, CommandClass::Write, "sets a kernel parameter");
    }
    false
}

/// Verbs that destroy, in a command line of a cloud service: `delete-x`, `x-delete-y`, `x:destroy`, `DeleteX`.
pub(super) fn cloud(call: &Call<'_>, out: &mut Part) -> bool {
    const VERBS: &[&str] = &["delete", "terminate", "destroy", "purge", "remove", "deregister", "wipe", "drop"];
    let listed = |word: &str| VERBS.contains(&word);
    let camel = |word: &str, verb: &str| {
        let (Some(head), Some(rest)) = (word.get(..verb.len()), word.get(verb.len()..)) else { return false };
        head.eq_ignore_ascii_case(verb) && [head, rest].iter().all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    let verb = |word: &str| {
        listed(word.split(['-', ':']).next().unwrap_or_default())
            || VERBS.iter().any(|verb| camel(word, verb))
            || matches!(word, "rm" | "rb" | "del")
    };
    // The verb of a service stands in its second word: `batch-delete-image`, `schedule-key-deletion`.
    let operation = |word: &str| {
        let mut parts = word.split(['-', ':', '_', '.']);
        !word.starts_with("cancel") && parts.any(|part| listed(part) || part == "deletion")
    };
    let words = call.args.iter().filter(|arg| !arg.text.starts_with('-')).map(Arg::head);
    let destroys =
        words.clone().any(verb) || words.clone().take(2).any(operation) || call.args.iter().any(|arg| arg.head().starts_with("--delete"));
    let asks = matches!(call.args, [only] if matches!(only.full(), Some("--version" | "version" | "help")));
    if destroys {
        raise(out, call, CommandClass::Destructive, "deletes something in the cloud");
    } else if words.take(3).any(|word| call.entry.subcommand(word).is_some()) {
        // What it keeps on this machine, and what the table knows of a service.
        if call.args.first().and_then(Arg::full).is_none_or(|word| call.entry.subcommand(word).is_none()) {
            raise(out, call, CommandClass::Network, "talks to a cloud service");
        }
        return false;
    } else if !asks && !call.args.is_empty() {
        raise(out, call, CommandClass::Network, "talks to a cloud service");
    }
    true
}
