//! `set`, `shopt`, `setopt`: options of this very shell.
//!
//! Invariant: an option that is not listed raises, since it may change how the rest of the text is read: `set -k` makes
//! assignments of later words, `set -H` puts other text in their place, without `interactive_comments` a comment runs.

use super::super::args::Arg;
use super::super::judge::{Judge, Raise, Scope};
use super::super::vet::Finding;
use super::{Call, builtins};
use crate::{CommandClass, Part, ReasonCode};

/// Letters of `set` that change no word of the text.
const LETTERS: &str = "abefhmntuvxCEPT";

/// Names of the same, and of what `shopt` and zsh know, without `_` and without `no` in front.
const NAMES: &str = "\
    aliases allexport autocd bareglobqual bgnice cdablevars cdspell checkhash checkjobs checkwinsize clobber \
    cmdhist completefullquote cshnullglob direxpand dirspell dotglob emacs errexit errreturn errtrace execfail \
    expandaliases extendedglob extglob failglob forcefignore functrace glob globalrcs globasciiranges globdots \
    globskipdots globstar globstarshort gnuerrfmt hashall histappend histignorealldups histignoredups histverify \
    hostcomplete hup huponexit ignoreeof inheriterrexit kshglob lastpipe lithist localoptions localtraps log loginshell \
    mailwarn match monitor caseglob casematch emptycmdcompletion exec notify nullglob numericglobsort onecmd physical \
    pipefail progcomp progcompalias promptvars rcs shiftverbose shwordsplit sourcepath trace trapsasync unset verbose vi \
    warncreateglobal xtrace interactive";

/// What only matters where it is turned off.
const ON: &[&str] = &["braceexpand", "interactivecomments"];

fn raise(out: &mut Part) {
    out.raise(Finding::new(
        CommandClass::Write,
        ReasonCode::UnlistedOption,
        "an option of the shell that may change how it reads what follows",
    ));
}

fn listed(name: &str) -> bool {
    NAMES.split(' ').any(|known| known == name) || name.strip_prefix("no").is_some_and(listed)
}

/// An option by its name, turned on or off.
pub(super) fn named(option: &Arg, on: bool, out: &mut Part) {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['_', '-'], "");
    if !option.full().map(plain).is_some_and(|name| listed(&name) || on && ON.contains(&name.as_str())) {
        raise(out);
    }
}

pub(super) fn set(judge: &Judge<'_>, call: &Call<'_>, scope: &Scope<'_>, out: &mut Part) -> bool {
    builtins::subscripts(judge, call, scope, out);
    // Behind the options stand parameters of this very shell.
    call.args.iter().for_each(|arg| judge.valued(arg));
    match call.name {
        "set" => letters(call.args, out),
        "shopt" => shopt(call.args, out),
        name => call.args.iter().for_each(|arg| match arg.head().starts_with(['-', '+']) {
            true => letters(std::slice::from_ref(arg), out),
            false => self::named(arg, name == "setopt", out),
        }),
    }
    false
}

/// `set -eo pipefail`, up to the positional parameters.
fn letters(args: &[Arg], out: &mut Part) {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(text) = arg.full() else {
            if arg.risky || arg.outside || arg.known > 0 && arg.head().starts_with(['-', '+']) {
                raise(out);
            }
            return;
        };
        let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty() && *letters != "-") else { return };
        for letter in letters.chars() {
            match letter {
                'o' => rest.next().into_iter().for_each(|name| named(name, text.starts_with('-'), out)),
                // `set -A name values`, in ksh and zsh.
                'A' => return,
                letter if LETTERS.contains(letter) => {}
                _ => raise(out),
            }
        }
    }
}

fn shopt(args: &[Arg], out: &mut Part) {
    let option = |arg: &&Arg| arg.head().starts_with('-');
    let has = |letter| args.iter().filter(option).any(|arg| arg.text.contains(letter));
    if !(has('s') || has('u') || args.iter().any(Arg::is_open)) {
        return;
    }
    args.iter().filter(|arg| !option(arg)).for_each(|arg| named(arg, !has('u'), out));
}
