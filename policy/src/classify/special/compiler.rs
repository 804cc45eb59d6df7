//! C compilers that check, preprocess to the standard output, or say something about themselves.
//!
//! Invariant: every word is one that is known to write and load nothing; anything else leaves the compiler Write.

use super::super::args::Arg;
use super::super::collected::Reach;
use super::super::judge::{Judge, Raise};
use super::super::paths;
use super::Call;
use crate::Part;

/// With one of these nothing is compiled, or its result goes to the standard output.
const LOOKS: &[&str] = &["-E", "-M", "-MM", "-fsyntax-only", "-###"];
/// What says something instead of compiling: without a file to compile.
const PRINTS: &[&str] = &[
    "-dumpspecs",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpmachine",
    "--help=",
    "-print-search-dirs",
    "--print-search-dirs",
    "-print-file-name=",
    "--print-file-name=",
    "-print-prog-name=",
    "--print-prog-name=",
    "-print-libgcc-file-name",
    "--print-libgcc-file-name",
    "-print-multi-",
    "--print-multi-",
    "-print-sysroot",
    "--print-sysroot",
    "-print-resource-dir",
    "--print-resource-dir",
    "-print-target-triple",
    "--print-target-triple",
    "-print-targets",
    "--print-targets",
    "-print-effective-triple",
    "--print-effective-triple",
];
/// Words that change nothing about where the output goes.
const FLAGS: &[&str] = &[
    "-P",
    "-C",
    "-CC",
    "-H",
    "-v",
    "-w",
    "-ansi",
    "-pedantic",
    "-pedantic-errors",
    "-pipe",
    "-nostdinc",
    "-nostdinc++",
    "-undef",
    "-dM",
    "-dD",
    "-dN",
    "-dI",
    "-dU",
    "-Q",
    "-c",
    "-S",
    "-Qunused-arguments",
    "-pthread",
    "-g",
    "-traditional-cpp",
    "-MG",
    "-MP",
    "-",
    "-fPIC",
    "-fpic",
    "-fPIE",
];
/// Words that begin so: attached values.
const BEGINNINGS: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-std=",
    "--std=",
    "-O",
    "-gno-",
    "-gdwarf",
    "-fno-",
    "-fmessage-length=",
    "-fdebug-prefix-map=",
    "-ffile-prefix-map=",
    "-fdiagnostics-color",
    "-fvisibility=",
    "-fstack-protector",
    "-fcaret-",
    "-march=",
    "-mtune=",
    "-mcpu=",
    "-mabi=",
    "-mfpu=",
    "-m32",
    "-m64",
    "-msse",
    "-mavx",
    "--target=",
];
/// Options with a value of their own.
const VALUED: &[&str] =
    &["-x", "-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "-arch", "-target"];

/// The value goes on to another program: a preprocessor, an assembler, a linker.
fn passed_on(word: &str) -> bool {
    word.starts_with("-W") && word.contains(',')
}

pub(super) fn judge(judge: &Judge<'_>, call: &Call<'_>, out: &mut Part) -> bool {
    let written = call.args.windows(2).filter(|pair| pair[0].full() == Some("-o")).filter_map(|pair| paths::changed(&pair[1]));
    written.for_each(|found| out.raise_at(found, call.entry.at));
    let Some(words) = call.args.iter().map(Arg::full).collect::<Option<Vec<&str>>>() else { return false };
    let preprocesses = call.name.starts_with("cpp");
    let (mut looks, mut prints, mut compiles, mut nowhere, mut inputs, mut at) = (preprocesses, false, false, false, 0, 0);
    while let Some(&word) = words.get(at) {
        at += 1;
        if VALUED.contains(&word) {
            call.args.get(at).into_iter().for_each(|value| judge.collect_arg(call.name, value, Reach::File));
            at += 1;
        } else if word == "-o" {
            nowhere = words.get(at) == Some(&"/dev/null");
            if !nowhere {
                return false;
            }
            at += 1;
        } else if LOOKS.contains(&word) {
            looks = true;
        } else if PRINTS.iter().any(|begin| word.starts_with(begin)) {
            prints = true;
        } else if FLAGS.contains(&word) || BEGINNINGS.iter().any(|begin| word.starts_with(begin)) {
            compiles |= matches!(word, "-c" | "-S");
        } else if word.starts_with("-x") || (word.starts_with("-W") && !passed_on(word)) {
            // A language, a warning.
        } else if word.starts_with(['-', '@']) {
            return false;
        } else {
            inputs += 1;
            judge.collect_arg(call.name, &call.args[at - 1], Reach::File);
        }
    }
    // To the preprocessor by its own name a second file is what it writes.
    let written = preprocesses && inputs > 1;
    !written && (looks || (prints && inputs == 0) || (compiles && nowhere))
}
