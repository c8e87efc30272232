//! The `memdir` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    memdir_cli::main()
}
