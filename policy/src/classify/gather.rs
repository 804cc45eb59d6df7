//! What a walk gathers besides the class: commands, and the paths that they would open.
//!
//! Nothing is gathered for a plain classification; what is, is words as they stand. Text is searched for paths only where a
//! program is known to open what its text names.

use super::args::{Arg, UNKNOWN};
use super::collected::{MAX_BASES, MAX_PATHS, Reach, Reached};
use super::judge::Judge;
use super::vet::Vetted;
use crate::CommandClass;
use crate::forbidden::{first_parts, may_name_a_key};
use crate::knowledge::{Entry, Writes};

impl Judge<'_> {
    pub fn gathers(&self) -> bool {
        self.collected.is_some()
    }

    pub fn collect_command(&self, args: &[Arg]) {
        if let Some(collected) = &self.collected {
            collected.borrow_mut().commands.push(args.iter().map(|arg| arg.text.clone()).collect());
        }
    }

    pub fn collect_path(&self, program: &str, word: &str) {
        self.collect(program, word, Reach::File);
    }

    pub fn collect(&self, program: &str, word: &str, reach: Reach) {
        if let Some(collected) = &self.collected {
            let mut collected = collected.borrow_mut();
            collected.opens |= reach != Reach::Names && word.contains(UNKNOWN) && !matches!(program, "echo" | "for");
            if collected.paths.len() < MAX_PATHS {
                let after = collected.bases.len();
                collected.paths.push(Reached { program: program.to_owned(), word: word.to_owned(), reach, after });
            }
        }
    }

    /// An argument as a path: `$HOME` in front is the home directory.
    pub fn collect_arg(&self, program: &str, arg: &Arg, reach: Reach) {
        match arg.text.strip_prefix(UNKNOWN) {
            Some(rest) if arg.home => self.collect(program, &format!("~{rest}"), reach),
            _ => self.collect(program, &arg.text, reach),
        }
    }

    /// Commands behind this one work in that directory.
    pub fn collect_base(&self, arg: Option<&Arg>) {
        let Some(collected) = &self.collected else { return };
        let mut collected = collected.borrow_mut();
        let word = match arg {
            None => "~".to_owned(),
            Some(arg) if arg.home => arg.text.replacen(UNKNOWN, "~", 1),
            Some(arg) => arg.text.clone(),
        };
        if collected.bases.len() < MAX_BASES && word != "-" {
            collected.bases.push(word);
        }
    }

    /// Paths in a program text, which opens what it names.
    pub fn collect_text(&self, program: &str, text: &str) {
        if self.collected.is_none() {
            return;
        }
        let part_of_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '~' | '-' | '*' | '?');
        for token in text.split(|c| !part_of_path(c)).filter(|token| token.len() > 3) {
            if token.starts_with(['/', '~']) && !token.starts_with("/.") {
                self.collect_path(program, token);
            }
            // `Path.home() / ".ssh"`, `HOME + "/.ssh/id_rsa"`.
            let stands = |part: &str| token.find(part).filter(|&at| at == 0 || token[..at].ends_with('/'));
            if let Some(at) = first_parts().find_map(stands) {
                self.collect_path(program, &format!("~/{}", &token[at..]));
            }
        }
    }

    /// Whatever in these words may be a path: of a program whose handler knows its modes and not its operands, or that sends
    /// what it reads to another host.
    pub fn collect_words(&self, program: &str, args: &[Arg]) {
        if !self.gathers() {
            return;
        }
        for arg in args.iter().filter(|arg| !arg.text.starts_with("--exclude")) {
            if arg.text.contains(char::is_whitespace) {
                // A sentence; what a program reads as a language of its own is searched where that is known.
                continue;
            }
            self.collect_arg(program, arg, Reach::File);
            // `key=@FILE`, `src=DIR,dst=DIR`, `f=<FILE`, `file://FILE`, `-fFILE`.
            let pieces = arg.text.split(['=', '@', ',', '<', ';', '"', '\'']);
            for piece in
                pieces.map(|piece| piece.split_once("file://").map_or(piece, |(_, path)| path.strip_prefix("localhost").unwrap_or(path)))
            {
                let glued = if piece.starts_with('-') { piece.find(['/', '~', UNKNOWN]).unwrap_or(0) } else { 0 };
                match piece[glued..].strip_prefix(UNKNOWN) {
                    Some(rest) if rest.starts_with('/') => self.collect_path(program, &format!("~{rest}")),
                    _ if piece[glued..].starts_with(['/', '~']) => self.collect_path(program, &piece[glued..]),
                    _ => {}
                }
            }
        }
    }

    /// Where options make a program work, and what those may name that nobody knows.
    pub fn collect_options(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted) {
        if !self.gathers() {
            return;
        }
        for taken in vetted.taken.iter().filter(|taken| is_one_of(&entry.base, &taken.option)) {
            self.collect_base(Some(&taken.value));
        }
        for &at in &vetted.unlisted {
            self.collect_words(name, &args[at..=at]);
        }
    }

    /// What the operands of a program would open.
    pub fn collect_operands(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted) {
        if !self.gathers() {
            return;
        }
        let skipped = usize::from(vetted.taken.iter().any(|taken| is_one_of(&entry.instead, &taken.option)));
        let below = self.reads_below(entry, name, vetted);
        let target = if below && entry.writes == Some(Writes::Last) { vetted.operands.last() } else { None };
        let mut reach = if entry.lists { Reach::Names } else { Reach::File };
        if below {
            reach = Reach::Below;
        }
        let mut sources = 0;
        for (index, at) in vetted.operands.iter().enumerate() {
            let is_path = entry.operands.get(index + skipped).or(entry.operands.last()).copied().unwrap_or(true);
            if is_path {
                sources += 1;
                // `id=x,src=FILE` may be the value of an option that nobody knows.
                if entry.class > CommandClass::Read {
                    self.collect_words(name, &args[*at..=*at]);
                }
                self.collect_arg(name, &args[*at], if target == Some(at) { Reach::File } else { reach });
            }
        }
        if below && sources == 0 {
            self.collect(name, ".", Reach::Below);
        }
    }

    /// An option, or the program's own name, makes it read whole trees, and no pattern keeps it from the names of keys.
    fn reads_below(&self, entry: &Entry, name: &str, vetted: &Vetted) -> bool {
        let given = vetted.flags.iter().chain(vetted.taken.iter().map(|taken| &taken.option));
        let deep = entry.deep.iter().any(|word| **word == *"*")
            || is_one_of(&entry.deep, name)
            || given.into_iter().any(|flag| is_one_of(&entry.deep, flag));
        deep && !self.narrowed(entry, vetted)
    }

    /// Only files of certain names are read, and none of them is that of a key.
    fn narrowed(&self, entry: &Entry, vetted: &Vetted) -> bool {
        let negated = vetted.flags.iter().any(|flag| matches!(flag.as_str(), "-not" | "-o" | "-or")) && entry.dash;
        !negated
            && vetted.taken.iter().filter(|taken| is_one_of(&entry.narrow, &taken.option)).any(|taken| {
                let pattern = taken.value.text.as_str();
                let letters = pattern.chars().filter(char::is_ascii_alphabetic).count();
                let path = pattern.contains('/');
                let may = if path { first_parts().any(|part| pattern.contains(part)) } else { may_name_a_key(pattern) };
                !pattern.starts_with('!') && !taken.value.is_open() && letters > 0 && !may
            })
    }

    /// The directories below which a walk of file names goes, when what is done with each file is left to others.
    pub fn walked(&self, entry: &Entry, name: &str, args: &[Arg], vetted: &Vetted) -> Vec<Arg> {
        let negates = args.iter().any(|arg| arg.text == "!");
        if self.narrowed(entry, vetted) && !negates {
            return Vec::new();
        }
        // fd leaves out what is hidden.
        if name.starts_with("fd") && !vetted.flags.iter().any(|flag| matches!(flag.as_str(), "-H" | "-u" | "--hidden" | "--unrestricted")) {
            return Vec::new();
        }
        let skip = usize::from(name.starts_with("fd"));
        let roots: Vec<Arg> = vetted.operands.iter().skip(skip).map(|&at| args[at].clone()).filter(|arg| arg.text != "!").collect();
        if roots.is_empty() { vec![Arg::closed(".")] } else { roots }
    }

    /// The program reads what it is given, and does not only name it.
    pub fn reads_contents(&self, words: &[Arg]) -> bool {
        let entry = words.first().and_then(Arg::full).and_then(|name| self.knowledge.program(super::program::base(name)));
        entry.is_none_or(|entry| !entry.lists && entry.operands.last() != Some(&false))
    }
}

/// The option is in the list, as it stands or as the beginning of a long one.
fn is_one_of(list: &[Box<str>], option: &str) -> bool {
    list.iter().any(|listed| **listed == *option || (option.len() > 4 && option.starts_with("--") && listed.starts_with(option)))
}
