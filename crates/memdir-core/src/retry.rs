//! [`within`]: waiting for something that another thread or program holds, for a bounded time.
//!
//! Owns how long the pauses are. Reads no clock: what was waited is the sum of the pauses.

use std::thread;
use std::time::Duration;

/// The first pause and the longest one.
const SHORT: Duration = Duration::from_micros(200);
const LONG: Duration = Duration::from_millis(10);

/// Tries until there is something, with pauses that grow; `None` once `limit` is over. The first try is made at once.
///
/// # Errors
///
/// Those of a try; it is the last one then.
pub fn within<T, E>(limit: Duration, mut attempt: impl FnMut() -> Result<Option<T>, E>) -> Result<Option<T>, E> {
    let (mut waited, mut pause) = (Duration::ZERO, SHORT);
    loop {
        if let Some(done) = attempt()? {
            return Ok(Some(done));
        }
        if waited >= limit {
            return Ok(None);
        }
        thread::sleep(pause);
        waited += pause;
        pause = (pause * 2).min(LONG);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_has_an_end() {
        let mut tries = 0;
        let waited = within::<(), ()>(Duration::from_millis(3), || {
            tries += 1;
            Ok(None)
        });
        assert_eq!(waited, Ok(None));
        assert!(tries > 2, "{tries}");
        let mut tries = 0;
        let first = within::<_, ()>(Duration::ZERO, || {
            tries += 1;
            Ok((tries == 1).then_some(tries))
        });
        assert_eq!((first, tries), (Ok(Some(1)), 1));
        assert_eq!(within::<(), _>(Duration::from_secs(60), || Err("broken")), Err("broken"));
    }
}
