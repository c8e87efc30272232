//! [`Client`]: a registered program, and what it was granted.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use memdir_core::action::Access;
use memdir_core::catalog::ROWS;
use memdir_policy::Grant;
use memdir_tools::ToolGrant;

/// A program that asks, as the person registered it.
#[derive(Clone, Debug)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// What it may see and do.
    pub grant: Option<Arc<Grant>>,
    /// Which tools of other servers it may see and call, where it is a registered one. Who has no grant at all is the owner, who
    /// may call them all.
    pub tools: ToolGrant,
    /// How many requests it may make in a minute.
    pub rate: Option<NonZeroU32>,
    /// Whether what its person answers to a question counts as the owner's word.
    pub may_approve: bool,
}

impl Client {
    /// Whether its grant lets it send an action at all.
    pub(super) fn lets_send(&self, action: &str) -> bool {
        self.grant.as_ref().is_none_or(|grant| grant.lets_send(action))
    }

    /// Whether its grant lets it change nothing, whatever it sends: it has no place, or no action, for that.
    pub(super) fn only_reads(&self) -> bool {
        let Some(grant) = &self.grant else { return false };
        let has_action = ROWS.iter().any(|row| row.access > Access::Read && grant.lets_send(row.name));
        !has_action || !grant.lets_write_anything()
    }
}

/// How a client identifies itself.
#[derive(Clone, Copy)]
pub enum Claim<'a> {
    /// A secret that only it has.
    Token(&'a str),
    /// Its name, which anybody can say.
    Name(&'a str),
}

/// No client is registered under this claim.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unknown;

/// Looks a client up anew for each request: a revoked one is unknown at once.
pub struct Register(Box<Lookup>);

type Lookup = dyn Fn(Claim<'_>) -> Result<Client, Unknown> + Send + Sync;

impl Register {
    /// A register that answers by `look_up`, which may be asked by any thread at any time.
    pub fn new(look_up: impl Fn(Claim<'_>) -> Result<Client, Unknown> + Send + Sync + 'static) -> Self {
        Self(Box::new(look_up))
    }

    /// The client of this claim, as of now.
    ///
    /// # Errors
    ///
    /// [`Unknown`] when there is none, or its time is over.
    pub fn find(&self, claim: Claim<'_>) -> Result<Client, Unknown> {
        (self.0)(claim)
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Register")
    }
}
