//! Classes, tiers, the command classifier and the gate of stayexec, usable alone.
//!
//! A command gets a class (Read < Write < Network < Install < Destructive), the maximum over everything that would run; the
//! matrix of the tier turns the class into a decision. Nothing in this crate lowers a class.
//!
//! Pure: no I/O, no clock, no globals besides the compiled-in knowledge and the names of further files. Facts about files
//! arrive in [`Exec`]. It never panics, and whatever it does not understand is at least Write.
//!
//! ```
//! use stayexec_policy::{AutonomyLevel, CommandClass, GateDecision, SecurityPolicy};
//!
//! let policy = SecurityPolicy::default().with_autonomy(AutonomyLevel::Supervised);
//! let class = policy.classify_command("git commit -m 'fix' && echo done > out.txt");
//! assert_eq!(class, CommandClass::Write);
//! match policy.gate_decision(class) {
//!     GateDecision::Allow => println!("runs"),
//!     GateDecision::Prompt => println!("waits for a person"),
//!     GateDecision::Block => println!("is refused"),
//! }
//!
//! let read_only = SecurityPolicy::new(AutonomyLevel::ReadOnly);
//! assert_eq!(read_only.gate_decision(read_only.classify_command("ls -l")), GateDecision::Allow);
//! assert_eq!(read_only.gate_decision(read_only.classify_command("rm -rf /")), GateDecision::Block);
//!
//! let full = SecurityPolicy::new(AutonomyLevel::Full);
//! assert_eq!(full.gate_decision(full.classify_command("touch notes")), GateDecision::Allow);
//! assert_eq!(full.gate_decision(full.classify_command("curl http://example.com")), GateDecision::Prompt);
//! ```
//!
//! A caller may say what it thinks of its command; that only raises:
//!
//! ```
//! use stayexec_policy::{CommandClass, GateDecision, SecurityPolicy, Tier};
//!
//! let policy = SecurityPolicy::new(Tier::Supervised);
//! let declared = CommandClass::Network;
//! let class = policy.classify_command("cat /etc/passwd > /tmp/passwd_copy");
//! assert_eq!(class, CommandClass::Write);
//! assert_eq!(class.max(declared), CommandClass::Network);
//! assert_eq!(policy.decide("ls", Some(declared)).class, CommandClass::Network);
//! assert_eq!(policy.decide("rm -rf build", Some(CommandClass::Read)).class, CommandClass::Destructive);
//! ```
//!
//! Other readings of the table are settings. `npm install` is Install, so a full tier that lets it run says so, and a
//! supervised tier may refuse what cannot be taken back:
//!
//! ```
//! use stayexec_policy::{CommandClass, GateDecision, Matrix, SecurityPolicy, Tier};
//!
//! # fn main() -> Result<(), stayexec_policy::Loosened> {
//! let matrix = Matrix::default()
//!     .with(Tier::Full, CommandClass::Network, GateDecision::Allow)?
//!     .with(Tier::Full, CommandClass::Install, GateDecision::Allow)?
//!     .with(Tier::Supervised, CommandClass::Destructive, GateDecision::Block)?;
//! let full = SecurityPolicy::new(Tier::Full).with_matrix(matrix.clone());
//! assert_eq!(full.gate_decision(full.classify_command("npm install")), GateDecision::Allow);
//! let supervised = SecurityPolicy::new(Tier::Supervised).with_matrix(matrix);
//! assert_eq!(supervised.gate_decision(CommandClass::Destructive), GateDecision::Block);
//! # Ok(())
//! # }
//! ```
//!
//! So are the stricter readings of the shell and of unknown programs:
//!
//! ```
//! use stayexec_policy::{ClassifySettings, CommandClass, SecurityPolicy, Shell, Unknown};
//!
//! let strict = ClassifySettings { shell: Shell::Strict, unknown: Unknown::Destructive, ..ClassifySettings::default() };
//! let policy = SecurityPolicy::default().with_classify(strict);
//! assert_eq!(policy.classify_command("ls | head"), CommandClass::Write);
//! assert_eq!(policy.classify_command("echo $HOME"), CommandClass::Write);
//! assert_eq!(policy.classify_command("frobnicate"), CommandClass::Destructive);
//! assert_eq!(policy.classify_command("ls -l"), CommandClass::Read);
//! ```
//!
//! A tool holds a policy and asks it before it runs anything:
//!
//! ```
//! use stayexec_policy::{GateDecision, SecurityPolicy};
//!
//! struct ShellTool {
//!     security: SecurityPolicy,
//! }
//!
//! impl ShellTool {
//!     fn run(&self, command: &str) -> Result<(), &'static str> {
//!         match self.security.gate_decision(self.security.classify_command(command)) {
//!             GateDecision::Allow => Ok(()),
//!             GateDecision::Prompt => Err("ask a person"),
//!             GateDecision::Block => Err("refused"),
//!         }
//!     }
//! }
//!
//! let tool = ShellTool { security: SecurityPolicy::default() };
//! assert!(tool.run("grep -rn 'a|b' src | head").is_ok());
//! assert!(tool.run("git clone https://example.com/x && rm -rf x").is_err());
//! ```

mod assessment;
#[cfg(test)]
mod bounds;
mod class;
mod classify;
pub mod display;
mod exec;
pub mod forbidden;
mod hash;
mod knowledge;
mod matrix;
mod outside;
mod own_files;
mod policy;
pub mod redact;
pub mod remember;
pub mod rule;
mod settings;
mod shell;
mod steps;
mod tier;

pub use assessment::{Assessment, Decision, Part, ReasonCode};
pub use class::{CommandClass, UnknownClass};
pub use exec::{Exec, FileFacts, Places, Script, Stdin};
pub use knowledge::{Example, Knowledge, KnowledgeError, KnowledgeFile, Origin};
pub use matrix::{GateDecision, Loosened, Matrix, UnknownDecision};
pub use own_files::OwnFiles;
pub use policy::SecurityPolicy;
pub use settings::{ClassifySettings, Shell, Unknown};
pub use tier::{AutonomyLevel, Tier, UnknownTier};
