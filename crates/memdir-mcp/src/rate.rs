//! [`RateLimiter`]: how often each client may ask.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::{Client, lock};

/// The time over which requests are counted.
const MINUTE: Duration = Duration::from_secs(60);

/// What each client has used of its rate. Clients without a rate are not in it.
#[derive(Debug, Default)]
pub(super) struct RateLimiter(Mutex<BTreeMap<String, Bucket>>);

/// A bucket that holds the requests of one minute and drips evenly.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// When it is empty, if nothing more comes in.
    empty: Instant,
    /// When a refusal was last noted.
    noted: Option<Instant>,
}

/// A request that came too soon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct RateLimited {
    /// How long to wait.
    pub(super) wait: Duration,
    /// Whether the audit should note it: at most once a second for each client.
    pub(super) is_news: bool,
}

impl RateLimited {
    pub(super) const MESSAGE: &'static str = "too many requests";

    /// What to do instead.
    pub(super) fn hint(self) -> String {
        let seconds = self.wait.as_secs() + u64::from(self.wait.subsec_nanos() > 0);
        if seconds == 1 { "wait 1 second".to_owned() } else { format!("wait {seconds} seconds") }
    }
}

impl RateLimiter {
    /// Counts one request of a client.
    pub(super) fn take(&self, client: &Client, now: Instant) -> Result<(), RateLimited> {
        let Some(rate) = client.rate else { return Ok(()) };
        let mut buckets = lock(&self.0);
        let bucket = buckets.entry(client.name.clone()).or_insert(Bucket { empty: now, noted: None });
        bucket.take(rate, now)
    }
}

impl Bucket {
    fn take(&mut self, rate: NonZeroU32, now: Instant) -> Result<(), RateLimited> {
        let empty = self.empty.max(now) + MINUTE / rate.get();
        let over = empty.saturating_duration_since(now).saturating_sub(MINUTE);
        if over.is_zero() {
            self.empty = empty;
            return Ok(());
        }
        let is_news = self.noted.is_none_or(|noted| now.saturating_duration_since(noted) >= Duration::from_secs(1));
        if is_news {
            self.noted = Some(now);
        }
        Err(RateLimited { wait: over, is_news })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str, rate: u32) -> Client {
        Client {
            name: name.to_owned(),
            grant: None,
            tools: memdir_tools::ToolGrant::default(),
            rate: NonZeroU32::new(rate),
            may_approve: false,
        }
    }

    /// Sends requests at these milliseconds and compares which are let through.
    #[track_caller]
    fn check(rate: u32, at: &[u64], expected: &[bool]) {
        let (rates, start) = (RateLimiter::default(), Instant::now());
        let client = client("desk", rate);
        let let_through = |millis: &u64| rates.take(&client, start + Duration::from_millis(*millis)).is_ok();
        assert_eq!(at.iter().map(let_through).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_minutes_worth_may_come_at_once_and_then_drips() {
        check(3, &[0, 0, 0, 0], &[true, true, true, false]);
        check(3, &[0, 0, 0, 19_999, 20_000, 20_001], &[true, true, true, false, true, false]);
        check(1, &[0, 59_999, 60_000], &[true, false, true]);
        check(3, &[0, 0, 0, 600_000, 600_000, 600_000, 600_000], &[true, true, true, true, true, true, false]);
        check(0, &[0; 9], &[true; 9]);
    }

    #[test]
    fn a_clock_that_stands_still_or_goes_back_gives_nothing() {
        let (rates, start) = (RateLimiter::default(), Instant::now() + MINUTE);
        let client = client("desk", 1);
        assert!(rates.take(&client, start).is_ok());
        assert!(rates.take(&client, start - Duration::from_secs(5)).is_err());
    }

    #[test]
    fn clients_do_not_pay_for_each_other_and_a_new_rate_counts_at_once() {
        let (rates, now) = (RateLimiter::default(), Instant::now());
        assert!(rates.take(&client("desk", 1), now).is_ok());
        assert!(rates.take(&client("phone", 1), now).is_ok());
        assert!(rates.take(&client("desk", 1), now).is_err());
        assert!(rates.take(&client("desk", 60), now).is_err());
        assert!(rates.take(&client("desk", 60), now + Duration::from_secs(1)).is_ok());
    }

    #[test]
    fn a_refusal_says_how_long_and_is_news_once_a_second() {
        let (rates, start) = (RateLimiter::default(), Instant::now());
        let client = client("desk", 1);
        rates.take(&client, start).unwrap();
        let refused = |millis| rates.take(&client, start + Duration::from_millis(millis)).unwrap_err();
        assert_eq!(refused(0), RateLimited { wait: Duration::from_secs(60), is_news: true });
        assert_eq!(refused(500), RateLimited { wait: Duration::from_millis(59_500), is_news: false });
        assert_eq!(refused(1000), RateLimited { wait: Duration::from_secs(59), is_news: true });
        assert_eq!(refused(500).hint(), "wait 60 seconds");
        assert_eq!(refused(59_001).hint(), "wait 1 second");
    }
}
