//! [`Guard`]: a last word on each call, of whoever speaks for the person.

use std::fmt;
use std::sync::Arc;

use crate::action::{Action, Call};
use crate::policy::Refused;
use crate::report::Failure;

/// Says of an action why it is not to be made, beside what rules and detectors say. It is asked again where a batch is planned
/// again, so it has to answer the same; what the person approves themselves it is not asked about.
#[derive(Clone)]
pub struct Guard(Arc<Refuses>);

type Refuses = dyn Fn(&Action) -> Option<Failure> + Send + Sync;

impl Guard {
    /// A guard that refuses what `refuses` has a failure for.
    #[must_use]
    pub fn new(refuses: impl Fn(&Action) -> Option<Failure> + Send + Sync + 'static) -> Self {
        Self(Arc::new(refuses))
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Guard")
    }
}

/// The call, unless the guard refuses it.
pub(super) fn pass(guard: Option<&Guard>, call: Call) -> Result<Call, Box<Refused>> {
    match guard.and_then(|guard| (guard.0)(&call.action)) {
        Some(failure) => Err(Box::new(Refused { call, failure, grounds: Vec::new() })),
        None => Ok(call),
    }
}
