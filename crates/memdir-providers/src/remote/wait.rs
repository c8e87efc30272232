//! How long is waited before a server is asked again, if at all.

use std::time::Duration;

use super::failure::{Failure, Mend};

/// The longest that is waited; a server that asks for more is not asked again.
const LONGEST: Duration = Duration::from_secs(30);

/// How long to wait after so many tries; `None` where asking again will not help, or not soon.
pub(super) fn before(failed: &Failure, tried: u32, pause: Duration) -> Option<Duration> {
    let doubled = pause.saturating_mul(1_u32.checked_shl(tried.saturating_sub(1)).unwrap_or(u32::MAX));
    match failed.mend {
        Mend::Never => None,
        Mend::Soon => Some(jittered(doubled.min(LONGEST))),
        Mend::After(after) => Some(after).filter(|after| *after <= LONGEST),
    }
}

/// Between three quarters of a time and all of it, so that many who were turned away do not come back together.
fn jittered(time: Duration) -> Duration {
    let mut byte = [0];
    // Without chance the whole time is as good.
    let _ = getrandom::fill(&mut byte);
    time - time.mul_f64(f64::from(byte[0]) / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir_model::ModelError;

    #[test]
    fn each_wait_is_twice_as_long_and_bounded() {
        let failed = |mend| Failure { error: ModelError::Cancelled, mend, names: String::new() };
        let second = Duration::from_secs(1);
        for (tried, most) in [(1, 1), (2, 2), (3, 4), (6, 30), (32, 30), (33, 30), (u32::MAX, 30)] {
            let most = Duration::from_secs(most);
            let waits = before(&failed(Mend::Soon), tried, second).unwrap();
            assert!(waits <= most && waits >= most.mul_f64(0.75), "{tried}: {waits:?}");
        }
        assert_eq!(before(&failed(Mend::Never), 1, second), None);
        assert_eq!(before(&failed(Mend::After(second * 7)), 5, second), Some(second * 7));
        assert_eq!(before(&failed(Mend::After(second * 31)), 1, second), None);
    }
}
