//! [`forget`]: what is kept of a server goes with it.

use std::io;
use std::path::Path;

use crate::auth::forget_login;
use crate::connect::Places;
use crate::kept::Lists;
use crate::log::ServerLog;
use memdir_core::report::{Code, Failure};
use memdir_tools::ServerName;

/// Forgets all that is kept of a server: its login, the lists of its tools, what it wrote to its standard error. Call it once the
/// registry has no such server any more, so that no running hub keeps something anew. Gives whether there was something.
///
/// # Errors
///
/// `unavailable` where some of it cannot be removed. The rest is removed; another call tries again.
pub async fn forget(server: &ServerName, places: &Places) -> Result<bool, Failure> {
    let lists = Lists(places.lists.clone());
    let logs = places.logs.iter().flat_map(|folder| ServerLog::files(folder, server));
    let removed = lists
        .files(server)
        .chain(logs)
        .map(|file| remove(&file).map_err(|error| format!("a file with its tools or its log stays: {}", error.kind())));
    let mut outcomes: Vec<Result<bool, String>> = removed.collect();
    outcomes.push(forget_login(server, places).await);
    let there_was = outcomes.contains(&Ok(true));
    match outcomes.into_iter().find_map(Result::err) {
        None => Ok(there_was),
        Some(problem) => {
            let message = format!("not all that is kept of `{server}` is removed: {problem}");
            Err(Failure::new(Code::Unavailable, message)
                .with_hint(format!("`memdir tools remove {server}` tries again")))
        }
    }
}

/// Removes a file; `false` where there is none.
#[expect(clippy::disallowed_methods, reason = "a file of the hub's own, in no memory")]
fn remove(file: &Path) -> io::Result<bool> {
    match std::fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
