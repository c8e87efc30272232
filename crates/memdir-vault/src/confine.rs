//! Confines work that is done by path to the folders that the handles hold.
//!
//! SQLite opens by path, and makes its log and the file that connections share as it goes. Any program that may write in the
//! memory can put a link in the place of `.memdir` meanwhile. `proof` finds that afterwards; on Linux, Landlock prevents the
//! file from being made or written at all. Such a restriction lasts as long as its thread, so the work gets its own thread.

use cap_std::fs::Dir;

/// Runs `work` on a thread that can write nothing outside these folders; without the restriction where the system has none or
/// gives no thread.
#[cfg(target_os = "linux")]
pub(super) fn confined<T: Send>(folders: &[&Dir], mut work: impl FnMut() -> T + Send) -> T {
    use std::panic::resume_unwind;
    use std::thread;

    let confined = thread::scope(|scope| {
        let work = &mut work;
        let thread = thread::Builder::new().spawn_scoped(scope, move || {
            if let Err(error) = restrict(folders) {
                tracing::debug!(%error, "the thread that opens the history is not restricted");
            }
            work()
        });
        thread.ok().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    confined.unwrap_or_else(work)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn confined<T: Send>(_: &[&Dir], mut work: impl FnMut() -> T + Send) -> T {
    work()
}

/// Takes from this thread the right to write outside the folders, whatever a path leads to.
#[cfg(target_os = "linux")]
fn restrict(folders: &[&Dir]) -> Result<(), landlock::RulesetError> {
    use landlock::{ABI, AccessFs, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr};

    // An older kernel applies as much of it as it knows.
    let write = AccessFs::from_write(ABI::V3);
    let mut ruleset = Ruleset::default().handle_access(write)?.create()?;
    for folder in folders {
        ruleset = ruleset.add_rule(PathBeneath::new(folder, write))?;
    }
    ruleset.restrict_self().map(drop)
}
