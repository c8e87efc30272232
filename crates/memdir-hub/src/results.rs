//! [`Results`]: results that are given again, for the tools that the person marked.
//!
//! Never across clients, never an error, never longer than the person or the server said.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use memdir_core::digest::Digest;
use memdir_tools::digest_of;
use serde_json::{Map, Value};

/// How much is kept, in bytes of JSON.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The results of one hub.
#[derive(Debug, Default)]
pub(crate) struct Results {
    kept: HashMap<Digest, KeptResult>,
    /// The keys in the order in which they were put, with the number of that; one that was replaced comes twice.
    order: VecDeque<(Digest, u64)>,
    /// How many were put.
    puts: u64,
    bytes: usize,
}

#[derive(Debug)]
struct KeptResult {
    result: Map<String, Value>,
    bytes: usize,
    put: u64,
    until: Instant,
}

/// The key of a call: who makes it, how the server is reached, which tool, and its arguments in canonical form.
pub(crate) fn key(client: Option<&str>, transport: &Digest, own: &str, arguments: &Map<String, Value>) -> Digest {
    // The person is told from a client of any name.
    let client = client.map_or_else(|| "person".to_owned(), |name| format!("client {name}"));
    Digest::of_parts(&[client.as_bytes(), transport.as_bytes(), own.as_bytes(), digest_of(arguments).as_bytes()])
}

impl Results {
    /// The result of an earlier call, if it is still good.
    pub(crate) fn get(&self, key: &Digest, now: Instant) -> Option<Map<String, Value>> {
        self.kept.get(key).filter(|kept| now < kept.until).map(|kept| kept.result.clone())
    }

    /// Keeps a result for at most `most`, and no longer than its server says by `ttlMs`. One that tells of an error is not kept.
    pub(crate) fn put(&mut self, key: Digest, result: &Map<String, Value>, most: Duration, now: Instant) {
        let is_error = result.get("isError").is_some_and(|is_error| *is_error != Value::Bool(false));
        let lasts = said_to_last(result).map_or(most, |said| said.min(most));
        let bytes = serde_json::to_vec(result).map_or(usize::MAX, |json| json.len());
        if is_error || lasts.is_zero() || bytes > MOST_BYTES {
            return;
        }
        self.remove(&key);
        self.bytes += bytes;
        self.puts += 1;
        self.kept.insert(key, KeptResult { result: result.clone(), bytes, put: self.puts, until: now + lasts });
        self.order.push_back((key, self.puts));
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.bytes > MOST_BYTES
            && let Some((key, put)) = self.order.pop_front()
        {
            if self.kept.get(&key).is_some_and(|kept| kept.put == put) {
                self.remove(&key);
            }
        }
        // Keys that were replaced are forgotten in time.
        if self.order.len() > 2 * self.kept.len() + 16 {
            let kept = &self.kept;
            self.order.retain(|(key, put)| kept.get(key).is_some_and(|kept| kept.put == *put));
        }
    }

    fn remove(&mut self, key: &Digest) {
        if let Some(kept) = self.kept.remove(key) {
            self.bytes -= kept.bytes;
        }
    }
}

/// How long its server lets a result be kept, where it says so.
fn said_to_last(result: &Map<String, Value>) -> Option<Duration> {
    let meta = result.get("_meta").and_then(|meta| meta.get("ttlMs"));
    let said = [result.get("ttlMs"), meta].into_iter().flatten().filter_map(Value::as_u64).min();
    said.map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn key_of(client: Option<&str>, arguments: Value) -> Digest {
        key(client, &Digest::of(b"command"), "echo", &map(arguments))
    }

    #[test]
    fn the_order_of_arguments_is_no_difference_and_the_client_is_one() {
        let one = key_of(None, json!({"a": 1, "b": {"c": 2, "d": 3}}));
        assert_eq!(one, key_of(None, json!({"b": {"d": 3, "c": 2}, "a": 1})));
        for other in [
            key_of(Some("desk"), json!({"a": 1, "b": {"c": 2, "d": 3}})),
            key_of(Some("person"), json!({"a": 1, "b": {"c": 2, "d": 3}})),
            key_of(None, json!({"a": 1, "b": {"c": 2, "d": 4}})),
            key_of(None, json!({"a": "1", "b": {"c": 2, "d": 3}})),
            key(None, &Digest::of(b"another"), "echo", &map(json!({"a": 1, "b": {"c": 2, "d": 3}}))),
            key(None, &Digest::of(b"command"), "echo2", &map(json!({"a": 1, "b": {"c": 2, "d": 3}}))),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_result_lasts_as_long_as_both_say() {
        let now = Instant::now();
        for (result, lasts) in [
            (json!({"content": []}), 60_000_u64),
            (json!({"content": [], "ttlMs": 5_000}), 5_000),
            (json!({"content": [], "_meta": {"ttlMs": 2_000}}), 2_000),
            (json!({"content": [], "ttlMs": 90_000}), 60_000),
            (json!({"content": [], "ttlMs": 0}), 0),
            (json!({"content": [], "isError": true}), 0),
            (json!({"content": [], "isError": false}), 60_000),
        ] {
            let mut results = Results::default();
            let key = key_of(None, json!({}));
            results.put(key, &map(result.clone()), MINUTE, now);
            let at = |milliseconds: u64| results.get(&key, now + Duration::from_millis(milliseconds)).is_some();
            assert_eq!((lasts > 0, false), (at(lasts.saturating_sub(1)), at(lasts)), "{result}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
        let (now, mut results) = (Instant::now(), Results::default());
        let large = map(json!({"content": "x".repeat(1024 * 1024)}));
        let keys: Vec<Digest> = (0..20).map(|at| key_of(None, json!({"at": at}))).collect();
        for (at, key) in keys.iter().enumerate() {
            results.put(*key, &large, MINUTE, now + Duration::from_millis(at as u64));
        }
        let kept: Vec<bool> = keys.iter().map(|key| results.get(key, now).is_some()).collect();
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 7, "each has a little more than a megabyte");
        assert!(kept[13..].iter().all(|kept| *kept), "{kept:?}");
        for at in 0..1_000 {
            results.put(keys[19], &map(json!({"at": at})), MINUTE, now + Duration::from_secs(1));
        }
        assert!(results.order.len() < 100 && results.bytes < MOST_BYTES);
    }
}
