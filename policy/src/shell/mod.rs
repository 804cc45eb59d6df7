//! A shell parser for judging, not for running.
//!
//! Invariant: it never fails, never recurses past [`MAX_DEPTH`] and reads each byte a bounded number of times. Whatever
//! it does not fully understand is still walked for commands, and the script is marked *opaque*: the classifier then
//! takes it for at least Write. It expands nothing.

mod ansi;
mod arith;
mod assignment;
mod ast;
mod braces;
mod compound;
mod expand;
mod heredoc;
mod lexer;
mod list;
mod parameter;
mod parser;
mod redirection;
mod simple;

pub(crate) use ast::{Assign, Command, Compound, Disputed, Kind, Piece, Redir, RedirKind, Script, Simple, Word};

/// Nesting of any kind; deeper text is opaque.
pub(crate) const MAX_DEPTH: usize = 40;
/// Words, commands and expansions in one text; longer text is opaque.
pub(crate) const MAX_NODES: usize = 16_000;

/// Parses a text.
#[cfg(test)]
pub(crate) fn parse(text: &str) -> Script {
    parser::Parser::new(text, 0).script()
}

/// Parses a text that was found `depth` levels deep.
pub(crate) fn parse_at(text: &str, depth: usize) -> Script {
    parser::Parser::new(text, depth).script()
}
