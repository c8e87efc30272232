//! The person's desktop: whether there is one, and having it open something.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};
use std::thread;

use super::config;

/// Whether somebody sits in front of a screen here.
pub(super) fn is_there() -> bool {
    let has_screen = !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| config::variable(name).is_some());
    io::stdout().is_terminal() && has_screen
}

/// Opens an address or a file in the program that the person has for it, and does not wait for that.
///
/// # Errors
///
/// What the system says where the program that opens things does not start.
#[expect(clippy::disallowed_methods, reason = "the program of the system that opens what a person wants to see")]
pub(super) fn open(what: &OsStr) -> io::Result<()> {
    let (opener, before): (&str, &[&str]) = match () {
        () if cfg!(target_os = "macos") => ("open", &[]),
        () if cfg!(windows) => ("rundll32", &["url.dll,FileProtocolHandler"]),
        () => ("xdg-open", &[]),
    };
    let mut command = Command::new(opener);
    command.args(before).arg(what).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut opening = command.spawn()?;
    // Its end is waited for, so that nothing is left of it.
    thread::Builder::new().name("open".to_owned()).spawn(move || drop(opening.wait())).map(drop)
}
