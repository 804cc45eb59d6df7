//! The command. Everything that it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    match stayexec::cli::run(std::env::args_os()) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            failure.say();
            ExitCode::from(failure.exit_code())
        }
    }
}
