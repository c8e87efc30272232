//! [`Guard`]: lets the agent ask the person about a planned change before it is made.

use std::fmt;
use std::sync::Arc;

use memdir_plan::Plan;
use memdir_policy::Ground;

/// Says of all that a text would change why the person should be asked first, beside what rules and detectors say of each call; with
/// any ground all its changes wait as one. It is asked again where a text is planned again, so it has to answer the same for the
/// same plan; what the person approves themselves it is not asked about.
#[derive(Clone)]
pub struct Guard(Arc<Asks>);

type Asks = dyn Fn(&Plan) -> Vec<Ground> + Send + Sync;

impl Guard {
    /// A guard that gives these grounds.
    #[must_use]
    pub fn new(asks: impl Fn(&Plan) -> Vec<Ground> + Send + Sync + 'static) -> Self {
        Self(Arc::new(asks))
    }

    /// Why the person should be asked about a change; empty where they need not be.
    pub(super) fn grounds(&self, plan: &Plan) -> Vec<Ground> {
        (self.0)(plan)
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Guard")
    }
}
