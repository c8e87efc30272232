//! [`Rates`]: how many calls a client has made of a server in the last minute.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use memdir_tools::ServerName;

const MINUTE: Duration = Duration::from_secs(60);

/// The calls of the last minute, by client and server.
#[derive(Debug, Default)]
pub(crate) struct Rates(HashMap<(Option<String>, ServerName), VecDeque<Instant>>);

impl Rates {
    /// Whether a call may be made, and counts it where it `is_made`.
    ///
    /// # Errors
    ///
    /// The time until the next may be made, where `most` were made in the last minute.
    pub(crate) fn check(
        &mut self,
        (client, server): (Option<&str>, &ServerName),
        most: NonZeroU32,
        now: Instant,
        is_made: bool,
    ) -> Result<(), Duration> {
        self.0.retain(|_, calls| calls.back().is_some_and(|last| now.duration_since(*last) < MINUTE));
        let calls = self.0.entry((client.map(str::to_owned), server.clone())).or_default();
        while calls.front().is_some_and(|first| now.duration_since(*first) >= MINUTE) {
            calls.pop_front();
        }
        match calls.front() {
            Some(first) if calls.len() >= most.get() as usize => return Err(MINUTE - now.duration_since(*first)),
            _ if is_made => calls.push_back(now),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_minute_of_its_own_with_each_server() {
        let (mut rates, start) = (Rates::default(), Instant::now());
        let (desk, notes) = (ServerName::parse("desk").unwrap(), ServerName::parse("notes").unwrap());
        let two = NonZeroU32::new(2).unwrap();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut check = |who, now| {
            let could = rates.check(who, two, now, false);
            assert_eq!(rates.check(who, two, now, false), could, "asking counts as nothing");
            assert_eq!(rates.check(who, two, now, true), could);
            could
        };
        assert_eq!(check((Some("a"), &desk), at(0)), Ok(()));
        assert_eq!(check((Some("a"), &desk), at(10)), Ok(()));
        assert_eq!(check((Some("a"), &desk), at(20)), Err(Duration::from_secs(40)));
        assert_eq!(check((Some("a"), &notes), at(20)), Ok(()));
        assert_eq!(check((Some("b"), &desk), at(20)), Ok(()));
        assert_eq!(check((None, &desk), at(20)), Ok(()));
        assert_eq!(check((Some("a"), &desk), at(60)), Ok(()));
        assert_eq!(check((Some("a"), &desk), at(61)), Err(Duration::from_secs(9)));
    }
}
