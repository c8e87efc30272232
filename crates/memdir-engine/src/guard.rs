//! [`Guard`]: lets the person be asked about a planned change before it is made.

use std::fmt;
use std::sync::Arc;

use memdir_core::time::Timestamp;
use memdir_plan::{ClientWords, Plan};
use memdir_policy::Ground;

/// Says of all that a text would change why the person should be asked first, beside what rules and detectors say of each call; with
/// any ground all its changes wait as one. It is asked again where a text is planned again, so it has to answer the same for the
/// same plan; what the person approves themselves it is not asked about.
#[derive(Clone)]
pub struct Guard(Arc<Asks>);

type Asks = dyn Fn(&Plan) -> Objection + Send + Sync;

/// What a guard says of a change.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Objection {
    /// Why the person should be asked; empty where they need not be.
    pub grounds: Vec<Ground>,
    /// The tool of another server whose words the change is made of, as `calendar__list_events`. The history says then that the change
    /// comes from there.
    pub tool: Option<String>,
}

impl Objection {
    /// Both, each ground once. The first tool counts.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        let new: Vec<Ground> = other.grounds.into_iter().filter(|ground| !self.grounds.contains(ground)).collect();
        self.grounds.extend(new);
        Self { tool: self.tool.or(other.tool), ..self }
    }
}

impl Guard {
    /// A guard that says this of a change.
    #[must_use]
    pub fn new(asks: impl Fn(&Plan) -> Objection + Send + Sync + 'static) -> Self {
        Self(Arc::new(asks))
    }

    /// A guard that holds back a change made of words that tools have told the client so far.
    #[must_use]
    pub fn against(words: ClientWords, now: Timestamp) -> Self {
        let now = now.to_string();
        let today = now.split('T').next().unwrap_or_default().to_owned();
        Self::new(move |plan| {
            let tool = words.source_of(plan, &today).map(str::to_owned);
            Objection { grounds: tool.iter().map(|_| Ground::Origin).collect(), tool }
        })
    }

    /// What it says of a change.
    #[must_use]
    pub fn objection(&self, plan: &Plan) -> Objection {
        (self.0)(plan)
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Guard")
    }
}
