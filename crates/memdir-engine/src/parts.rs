//! The parts of a proposal: calls that can be approved without the others.

use super::Engine;
use super::tidy::is_tidy;
use super::trial::Trial;
use memdir_core::digest::Digest;
use memdir_core::report::Failure;
use memdir_plan::Plan;

impl Engine {
    /// What some calls of a proposal would do now without the others, by their places from 0.
    ///
    /// # Errors
    ///
    /// `not_found`, the code of a call that cannot be made without the others, and those of [`Engine::pending`].
    pub fn review_part(&self, id: u64, part: &[usize]) -> Result<(Plan, Digest), Failure> {
        let waiting = self.waiting_with(id)?;
        let trial = self.try_part(&waiting, part);
        match trial.trouble() {
            Some(trouble) => Err(trouble.clone()),
            None => Ok((trial.plan.clone(), trial.digest())),
        }
    }

    /// The parts of a proposal that can be decided each by itself, as places of its calls from 0: a call that cannot be made
    /// alone is in one part with the earlier calls that it needs. One that cannot be made any more is a part of its own, and
    /// keeps no other from being made.
    ///
    /// # Errors
    ///
    /// `not_found`, and those of [`Engine::pending`].
    pub fn parts_of(&self, id: u64) -> Result<Vec<Vec<usize>>, Failure> {
        let waiting = self.waiting_with(id)?;
        let mut steps: Vec<Vec<usize>> = Vec::new();
        for (at, held) in waiting.calls.iter().enumerate() {
            match steps.last_mut() {
                // A step of `tidy` may be several calls, of which the first one says why.
                Some(step) if is_tidy(&waiting) && held.grounds.is_empty() => step.push(at),
                _ => steps.push(vec![at]),
            }
        }
        let all: Vec<usize> = (0..waiting.calls.len()).collect();
        let outcomes = self.try_part(&waiting, &all).outcomes;
        let is_made = |at: &usize| outcomes.get(*at).is_none_or(|outcome| outcome.result.is_ok());
        let (steps, impossible): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| step.iter().all(is_made));
        let calls =
            |part: &[usize]| -> Vec<usize> { part.iter().filter_map(|at| steps.get(*at)).flatten().copied().collect() };
        let found = parts(steps.len(), |part| self.try_part(&waiting, &calls(part)).trouble().is_none());
        let mut found: Vec<Vec<usize>> = found.iter().map(|part| calls(part)).chain(impossible).collect();
        found.sort();
        Ok(found)
    }

    fn try_part(&self, waiting: &super::PendingProposal, part: &[usize]) -> Trial {
        let waiting = waiting.clone().with_calls(part);
        self.try_waiting(&self.seen_by(waiting.grant.as_deref()), &waiting, self.now())
    }
}

/// Puts so many calls into parts that can be made, by `can` of their places: each call alone, else with the nearest earlier part
/// that lets it be made, else with as many of them as that takes.
fn parts(calls: usize, can: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    let mut parts = Vec::<Vec<usize>>::new();
    for at in 0..calls {
        let with = |part: &[usize]| [part, &[at]].concat();
        if can(&[at]) {
            parts.push(vec![at]);
        } else if let Some(part) = parts.iter_mut().rev().find(|part| can(&with(part))) {
            part.push(at);
        } else {
            let mut joined = vec![at];
            while let Some(part) = parts.pop() {
                joined.extend(part);
                joined.sort_unstable();
                if can(&joined) {
                    break;
                }
            }
            parts.push(joined);
        }
    }
    parts.sort();
    parts
}

#[cfg(test)]
mod tests {
    use super::parts;

    /// The parts where each call can be made only with all those that it needs.
    fn found(needs: &[&[usize]]) -> Vec<Vec<usize>> {
        parts(needs.len(), |part| part.iter().all(|at| needs[*at].iter().all(|need| part.contains(need))))
    }

    #[test]
    fn a_call_joins_the_earlier_ones_that_it_needs() {
        assert_eq!(found(&[]), [[0; 0]; 0]);
        assert_eq!(found(&[&[], &[], &[]]), [[0], [1], [2]]);
        assert_eq!(found(&[&[], &[0], &[]]), [vec![0, 1], vec![2]]);
        assert_eq!(found(&[&[], &[], &[0]]), [vec![0, 2], vec![1]], "not the one directly before");
        assert_eq!(found(&[&[], &[], &[0], &[1], &[2]]), [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(found(&[&[], &[], &[], &[1, 2]]), [vec![0], vec![1, 2, 3]]);
        assert_eq!(found(&[&[], &[], &[0, 1]]), [[0, 1, 2]]);
        // What cannot be made by then is one part with all before it.
        assert_eq!(found(&[&[], &[3], &[], &[]]), [vec![0, 1], vec![2], vec![3]]);
    }
}
