//! The rules of the settings as they are now, for a program that stays.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::Sources;
use crate::file::Stamp;
use memdir_core::report::Failure;
use memdir_engine::ReadRules;
use memdir_policy::Rules;

impl Sources {
    /// Reads the rules for the memory at `root` again whenever the settings file is another one. While it cannot be read, nothing is
    /// allowed. While it is gone, which it is for a moment when an editor saves it by renaming, the rules stay as they were.
    pub(crate) fn live_rules(&self, root: &Path) -> ReadRules {
        let (sources, root, known) = (self.clone(), root.to_owned(), Mutex::new(self.stamp));
        Box::new(move || {
            let now = sources.path().and_then(Stamp::at)?;
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if *known == Some(now) {
                return None;
            }
            match sources.read_again().and_then(|now| Ok((now.stamp, now.for_memory(&root)?.rules()?))) {
                Ok((None, _)) => None,
                Ok((stamp, rules)) => {
                    *known = stamp;
                    Some(rules)
                }
                Err(failure) => {
                    // Read again at the next request, whether the file has changed by then or the system lets it be read.
                    *known = None;
                    tracing::error!(
                        message = failure.message,
                        "the settings cannot be read, and all calls are refused"
                    );
                    let message = format!("the settings cannot be used, so nothing is done: {}", failure.message);
                    Some(Rules::unreadable(Failure { message, ..failure }))
                }
            }
        })
    }
}
