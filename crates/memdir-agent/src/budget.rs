//! Tokens a day: what the sessions of a memory have used since midnight, in UTC.

use super::line::{Line, lines};
use memdir_core::report::Failure;
use memdir_core::time::Timestamp;
use memdir_engine::Engine;

/// Microseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// How many tokens are left of so many a day; `None` for as many as one likes.
///
/// # Errors
///
/// As [`spent_today`].
pub fn tokens_left(engine: &Engine, a_day: Option<u64>, now: Timestamp) -> Result<Option<u64>, Failure> {
    a_day.map(|a_day| Ok(a_day.saturating_sub(spent_today(engine, now)?))).transpose()
}

/// How many tokens the sessions that are kept have used today: read, as far as they were not known from before, and written.
///
/// # Errors
///
/// What the engine says.
pub fn spent_today(engine: &Engine, now: Timestamp) -> Result<u64, Failure> {
    let midnight = midnight(now);
    let mut spent = 0_u64;
    for kept in engine.sessions()?.iter().take_while(|kept| kept.changed >= midnight) {
        let bytes = engine.read_session(&kept.id)?.unwrap_or_default();
        spent = spent.saturating_add(spent_since(&bytes, midnight));
    }
    Ok(spent)
}

/// What the turns among these lines have used from a moment on. What cannot be read counts nothing.
fn spent_since(bytes: &[u8], from: Timestamp) -> u64 {
    let turns = lines(bytes).filter_map(|line| match line {
        Ok(
            Line::Turn { time, input_tokens, output_tokens, reused_tokens, .. }
            | Line::Stage { time, input_tokens, output_tokens, reused_tokens, .. },
        ) if time >= from => Some(input_tokens.saturating_sub(reused_tokens).saturating_add(output_tokens)),
        _ => None,
    });
    turns.fold(0, u64::saturating_add)
}

fn midnight(now: Timestamp) -> Timestamp {
    Timestamp::from_micros(now.micros().div_euclid(DAY) * DAY)
}
