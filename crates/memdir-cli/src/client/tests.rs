//! Who is found by which claim, and when.

use std::num::NonZeroU32;

use super::file::Entry;
use super::register::Seen;
use super::token::{Token, position};
use super::{actions, words};
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_mcp::Claim;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn entry(name: &str, token: &Token, expires: Option<Timestamp>) -> Entry {
    Entry {
        name: name.to_owned(),
        memory: "/m".to_owned(),
        token: token.digest(),
        read: vec!["work/**".to_owned()],
        write: Vec::new(),
        hide: Vec::new(),
        actions: actions(&["read".to_owned(), "read_file".to_owned()]),
        hub: if name == "two" { vec!["calendar".to_owned()] } else { Vec::new() },
        expires,
        rate: NonZeroU32::new(7),
        may_approve: name == "two",
        created: at(0),
        revoked: None,
    }
}

#[test]
fn a_client_is_found_by_its_token_or_its_name_until_its_time_is_over() {
    let tokens: Vec<Token> = (0..3).map(|_| Token::new().unwrap()).collect();
    let entries = ["one", "two", "three"].iter().zip(&tokens);
    let entries = entries.map(|(name, token)| entry(name, token, (*name == "three").then(|| at(100)))).collect();
    let seen = Seen::of(entries).unwrap();
    let name = |claim: Claim<'_>, now| seen.find(claim, at(now)).map(|client| client.name).unwrap_or_default();
    for (token, expected) in tokens.iter().zip(["one", "two", "three"]) {
        assert_eq!(name(Claim::Token(token.reveal()), 99), expected);
        assert_eq!(name(Claim::Name(expected), 99), expected);
    }
    assert_eq!(name(Claim::Token(tokens[2].reveal()), 100), "");
    assert_eq!(name(Claim::Name("three"), 100), "");
    let digest = tokens[0].digest().to_string();
    for wrong in
        ["", "memdir_", "one", tokens[0].reveal().trim_start_matches('m'), &tokens[0].reveal().to_uppercase(), &digest]
    {
        assert_eq!(name(Claim::Token(wrong), 0), "", "{wrong}");
    }
    assert_eq!(name(Claim::Name("four"), 0), "");
    let two = seen.find(Claim::Name("two"), at(0)).unwrap();
    assert_eq!((two.rate, two.may_approve), (NonZeroU32::new(7), true));
    let grant = two.grant.unwrap();
    assert!(grant.shows(&MemoryPath::parse("work/a.md").unwrap()) && !grant.shows(&MemoryPath::parse("a.md").unwrap()));
    assert!(grant.lets_send("search_files") && !grant.lets_send("delete_file"));
}

#[test]
fn no_two_tokens_are_the_same_and_none_is_printed_by_chance() {
    let tokens: Vec<Token> = (0..64).map(|_| Token::new().unwrap()).collect();
    let digests: Vec<_> = tokens.iter().map(Token::digest).collect();
    for (at, digest) in digests.iter().enumerate() {
        assert_eq!(position(digest, digests.iter()), Some(at));
    }
    assert_eq!(position(&digests[0], digests[1..].iter()), None);
    assert_eq!(format!("{:?}", tokens[0]), "Token");
}

#[test]
fn all_is_said_in_one_line() {
    let entry = entry("desk", &Token::new().unwrap(), Some(at(0)));
    let words = words(&entry);
    assert!(words.starts_with("desk may read work/** and write nothing, by "), "{words}");
    assert!(words.ends_with(", 7 requests a minute, until 1970-01-01T00:00:00Z"), "{words}");
    assert_eq!(words.matches("read_file").count(), 1, "{words}");
}
