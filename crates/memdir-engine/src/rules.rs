//! The person's rules as they are now: a program that runs for days obeys one that was made a moment ago.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::Engine;
use memdir_policy::Rules;

/// Reads the rules again; `None` where they are what they were when it was asked last. Where they cannot be read it gives
/// [`Rules::unreadable`], so that nothing is served by rules that may be looser than what the person wrote.
pub type ReadRules = Box<dyn Fn() -> Option<Rules> + Send + Sync>;

/// The rules that hold, and where they come from.
pub(super) struct LiveRules {
    known: Mutex<Arc<Rules>>,
    read: Option<ReadRules>,
}

impl LiveRules {
    pub(super) fn new(rules: Rules) -> Self {
        Self { known: Mutex::new(Arc::new(rules)), read: None }
    }

    fn now(&self) -> Arc<Rules> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = self.read.as_ref().and_then(|read| read()) {
            *known = Arc::new(rules);
        }
        Arc::clone(&known)
    }
}

impl fmt::Debug for LiveRules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LiveRules").field("known", &self.known).finish_non_exhaustive()
    }
}

impl Engine {
    /// The same, which obeys the rules as `read` tells them from now on; it is asked at every request.
    #[must_use]
    pub fn with_rules_from(self, read: ReadRules) -> Self {
        Self { rules: LiveRules { read: Some(read), ..self.rules }, ..self }
    }

    /// The rules that hold now. One request is answered by the same ones from its beginning to its end.
    pub(super) fn rules(&self) -> Arc<Rules> {
        self.rules.now()
    }

    #[cfg(test)]
    pub(super) fn set_rules(&mut self, rules: Rules) {
        self.rules = LiveRules::new(rules);
    }
}
