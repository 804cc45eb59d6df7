//! What a judgement says: a class, why, and the tree of parts it was made from.

use serde::Serialize;

use crate::{CommandClass, GateDecision};

/// Why a part has its class; stable words for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonCode {
    /// Nothing would run.
    Empty,
    /// The knowledge about the program decides.
    Known,
    /// No entry for this program.
    UnknownProgram,
    /// No entry for this subcommand.
    UnknownSubcommand,
    /// An option the entry does not list.
    UnlistedOption,
    /// An option the entry marks.
    RaisingOption,
    /// An operand that changes what the program does.
    Operand,
    /// An operand that is only known when it runs, in a place where it could be an option.
    UnknownOperand,
    /// A redirection to a file.
    Redirection,
    /// A write below a system directory.
    SystemPath,
    /// A variable that makes programs load code, or names a command.
    Environment,
    /// The command that a wrapper starts.
    Payload,
    /// A download that is run.
    DownloadRun,
    /// The command word is only known when it runs.
    DynamicCommand,
    /// A construct that is not understood.
    Opaque,
    /// Past a cap on length, depth or work.
    TooLong,
    /// The file is not what its name says, or nobody knows.
    UntrustedFile,
    /// Text of an interpreter that is not looked into.
    InterpreterText,
    /// A shell that takes its text from its standard input.
    ShellInput,
    /// A program text (sed, awk, SQL) that writes or runs something, or is not understood.
    ProgramText,
    /// `[classify] shell = "strict"`.
    Strict,
    /// A read outside the workspace.
    OutsideWorkspace,
    /// A class that the caller declared.
    Declared,
    /// The largest of the parts below.
    Parts,
}

/// The outcome for one exec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assessment {
    /// The class.
    pub class: CommandClass,
    /// Why.
    pub code: ReasonCode,
    /// Why, for a person.
    pub reason: String,
    /// The knowledge entry that decided, as `file:line`.
    pub entry: Option<String>,
    /// The file is what its name says (see [`FileFacts::trusted`](crate::FileFacts::trusted)).
    pub trusted: bool,
    /// The whole text that will run was seen: no shell or interpreter that takes it from elsewhere.
    pub text_seen: bool,
    /// What runs is in the arguments alone, or in programs known by their names: no script file and no program of the tree
    /// that may be another one tomorrow.
    pub self_contained: bool,
    /// The file operand that decides what this start runs, as it stands in `argv`. A caller that can read it asks again with
    /// it as [`Exec::script`](crate::Exec::script); until then the class counts it as unknown.
    pub wants: Option<Vec<u8>>,
    /// The first that this program does is to ignore SIGHUP, as nohup(1) does: a caller that has it wait may do so for it.
    pub ignores_hangup: bool,
}

/// One part of a command with its class: a node of the tree that `explain` gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The text or the argv of this part, as one line.
    pub text: String,
    /// The class of this part with everything below it.
    pub class: CommandClass,
    /// Why.
    pub code: ReasonCode,
    /// Why, for a person.
    pub reason: String,
    /// The knowledge entry that decided, as `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What it is made of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl Part {
    /// The innermost part that decided the class.
    #[must_use]
    pub fn deciding(&self) -> &Self {
        let mut part = self;
        while part.code == ReasonCode::Parts || part.code == ReasonCode::Payload {
            match part.parts.iter().find(|below| below.class == part.class) {
                Some(below) => part = below,
                None => break,
            }
        }
        part
    }
}

/// The outcome for a command text: class and decision of the tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The class after the declared one was taken into account.
    pub class: CommandClass,
    /// What the matrix says.
    pub decision: GateDecision,
    /// Why, for a person.
    pub reason: String,
}
