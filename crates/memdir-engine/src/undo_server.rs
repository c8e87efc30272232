//! Taking back what was written in conversations in which another server spoke.

use super::change::UNDO;
use super::{Caller, Change, ChangeError, Done, Engine, PendingProposal, failure};
use memdir_core::report::{Code, Failure};
use memdir_plan as plan;
use memdir_tools::ServerName;
use memdir_vault::WrittenWith;

/// What would be taken back; nothing is done yet.
#[derive(Debug)]
pub struct ServerUndo {
    /// The server.
    pub server: ServerName,
    /// In how many conversations it spoke.
    pub conversations: usize,
    /// How many of its answers came, or may have come, outside any conversation, so that nobody knows what was written after them.
    pub elsewhere: u64,
    /// The change that takes the batches back, the newest first; `None` where there is none to take back.
    pub change: Option<Change>,
    /// The batches that stay, the newest first, and why.
    pub left: Vec<LeftBatch>,
    /// The proposals of these conversations that wait for the person. They are rejected with it.
    pub proposals: Vec<u64>,
}

/// A batch that cannot be taken back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeftBatch {
    /// Its number.
    pub batch: u64,
    /// Why not.
    pub error: ChangeError,
}

/// What came of it.
#[derive(Debug)]
pub struct ServerUndone {
    /// The change that took the batches back.
    pub done: Done,
    /// The proposals that wait as before, and why.
    pub waiting: Vec<(u64, Failure)>,
}

impl Engine {
    /// Plans to take back, as one change, every batch that was written in a conversation in which a server spoke or may have, be it
    /// before or after that: by a model or a program, and not by the person. A batch that a later edit is in the way of, or that is
    /// no longer kept, stays and is told.
    ///
    /// # Errors
    ///
    /// `nothing_to_undo` where nothing was written there that still stands, and nothing waits; those of the vault.
    pub fn propose_undo_of_server(&self, server: &ServerName) -> Result<ServerUndo, Failure> {
        let vault = |error| failure(&error);
        self.vault.look_after_crash().map_err(vault)?;
        let forgets = self.vault.forgets();
        let WrittenWith { conversations, elsewhere, batches } = self.vault.written_with(server).map_err(vault)?;
        let is_of_these = |waiting: &PendingProposal| {
            let author = &waiting.author;
            author
                .session
                .as_ref()
                .is_some_and(|session| conversations.contains(&(author.client.clone(), session.clone())))
        };
        let (waiting, _) = self.waiting()?;
        let proposals: Vec<u64> =
            waiting.iter().filter(|waiting| is_of_these(waiting)).map(|waiting| waiting.id).collect();
        if batches.is_empty() && proposals.is_empty() {
            return Err(nothing(server, conversations.len(), elsewhere));
        }
        let (mut undoes, mut left) = (batches, Vec::new());
        // The others are planned again without one that cannot be undone.
        let plan = loop {
            match self.plan_undoing(&undoes) {
                Ok(plan) => break plan,
                Err((at, error)) => left.push(LeftBatch { batch: undoes.remove(at), error }),
            }
        };
        left.sort_by_key(|left| std::cmp::Reverse(left.batch));
        let started = self.now();
        let change = undoes.first().map(|&batch| Change {
            plan,
            action: UNDO,
            batch,
            path: None,
            recorded: None,
            undoes: undoes.clone(),
            started,
            forgets,
        });
        Ok(ServerUndo {
            server: server.clone(),
            conversations: conversations.len(),
            elsewhere,
            change,
            left,
            proposals,
        })
    }

    /// Plans to undo several batches, the newest first; or tells the first that cannot be undone, by its place among them, and why.
    fn plan_undoing(&self, batches: &[u64]) -> Result<plan::Plan, (usize, ChangeError)> {
        let steps = batches.iter().enumerate().map(|(at, batch)| {
            let newer = batches.get(..at).unwrap_or_default();
            self.steps_to_undo(*batch, newer).map_err(|error| (at, error))
        });
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let plan = plan::undo_all(steps.iter().map(Vec::as_slice), &self.vault, &self.settings.limits);
        plan.map_err(|(at, error)| (at, error.into()))
    }

    /// Makes it true: one change, which can be undone as one, and the proposals rejected. One that cannot be rejected is told, for the
    /// change stands by then.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::conclude_change`], and then nothing is done.
    pub fn conclude_undo_of_server(&self, undo: ServerUndo, caller: &Caller) -> Result<ServerUndone, ChangeError> {
        caller.check_write(UNDO)?;
        let done = undo.change.map(|change| self.conclude_change(change, caller)).transpose()?.unwrap_or_default();
        let rejected = undo.proposals.into_iter().map(|proposal| (proposal, self.reject(proposal, caller)));
        let failed = rejected.filter_map(|(proposal, rejected)| Some((proposal, rejected.err()?)));
        // What is not found somebody has just decided.
        let waiting = failed.filter(|(_, failure)| failure.code != Code::NotFound).collect();
        Ok(ServerUndone { done, waiting })
    }
}

fn nothing(server: &ServerName, conversations: usize, elsewhere: u64) -> Failure {
    let message = match (conversations, elsewhere) {
        (0, 0) => format!("`{server}` has answered no call, as far as the audit tells"),
        (0, _) => {
            format!("`{server}` has answered only outside conversations, and nobody knows what was written after that")
        }
        _ => format!("nothing that was written in conversations with `{server}` still stands"),
    };
    Failure::new(Code::NothingToUndo, message)
        .with_hint(format!("`memdir audit calls --server {server}` shows its calls"))
}
