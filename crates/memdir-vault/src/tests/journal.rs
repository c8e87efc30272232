//! The journal cut at every byte, and damaged: what recovery makes of it.

#![expect(clippy::print_stdout, reason = "the figures are for a person who runs it with --nocapture")]

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::super::VaultError;
use super::super::journal::{Journal, State};
use super::super::state::{Home, StateFolder};
use super::recovery::{
    Fate, Recording, Rest, Tally, files, open_quick, same, scenarios, state_file, without_temporary,
};

/// Opens the journal alone, which recovers nothing.
fn journal(root: &Path) -> Result<Journal, VaultError> {
    let root_path = root.canonicalize().unwrap();
    let root = Dir::open_ambient_dir(&root_path, ambient_authority()).unwrap();
    let home = Home { root: &root, root_path: &root_path, machine: "local", elsewhere: None };
    Journal::open(&StateFolder::open(&home).unwrap().unwrap(), None, || Ok(1))
}

/// A replace, a create and a delete in a memory that is in use.
fn recording() -> Recording {
    Recording::new(scenarios().swap_remove(0), None)
}

impl Recording {
    fn fates(&self, fate: Fate) -> Vec<Fate> {
        vec![fate; self.scenario.steps.len()]
    }

    /// Recovers the tree of some fates with a log that is cut or damaged; gives an error unless the result is one of
    /// `allowed` trees, or the history is damaged and no note was touched.
    fn check_log(&self, fate: Fate, log: &[u8]) -> Result<bool, String> {
        let fates = self.fates(fate);
        let tree = self.tree(&fates).ok_or("there is no such state")?;
        self.lay_out(&tree, &fates, log);
        let root = self.env.path();
        match open_quick(root).and_then(|vault| vault.lock().map(drop)) {
            Ok(()) => {}
            Err(VaultError::Damaged(_)) => {
                return same("damaged", &files(root), &tree).map(|()| true);
            }
            Err(error) => return Err(error.to_string()),
        }
        let recovered = without_temporary(&files(root));
        let other = if fate == Fate::Done { Ok(()) } else { same("not after", &recovered, &self.after) };
        // Once it is carried out, nothing takes it back.
        let is_after = same("not after", &recovered, &self.after);
        let is_before = same("not before", &recovered, &self.before);
        match (is_before, is_after, other) {
            (Ok(()), _, Err(_)) | (_, Ok(()), _) => Ok(true),
            (Err(before), Err(after), _) => Err(format!("torn: {before}; {after}")),
            (Ok(()), Err(after), Ok(())) => Err(format!("taken back: {after}")),
        }
    }
}

/// A log that is cut inside a frame is as good as one cut before it: each length gives the state of the last whole
/// transaction, and never an error.
#[test]
fn a_log_cut_at_any_byte_is_as_it_was_after_some_transaction() {
    let recording = recording();
    let marks = recording.marks;
    recording.lay_out(&recording.before, &recording.fates(Fate::Undone(Rest::Missing)), &recording.log);
    let log = state_file(recording.env.path(), "-wal");
    let log = std::fs::OpenOptions::new().write(true).open(log).unwrap();
    for length in (marks.flushed..=recording.log.len()).rev() {
        log.set_len(length as u64).unwrap();
        let journal = journal(recording.env.path()).unwrap();
        let (batch, state) = journal.newest().unwrap().unwrap();
        let expected = match length {
            _ if length >= marks.applied => (2, State::Applied),
            _ if length >= marks.certain => (2, State::Committed),
            _ if length >= marks.opened => (2, State::Open),
            _ => (1, state),
        };
        assert_eq!((batch, state), expected, "log cut at {length} of {marks:?}");
        let steps =
            if batch == 2 && state != State::Open { recording.scenario.steps.len() } else { usize::from(batch == 1) };
        assert_eq!(journal.steps(batch).unwrap().len(), steps, "log cut at {length}");
    }
    println!("log cut at {} lengths", recording.log.len() - marks.flushed + 1);
}

/// The whole recovery, at and around the end of every frame and every 97 bytes, on the tree before and after.
#[test]
fn recovery_with_a_cut_log_gives_before_or_after() {
    let recording = recording();
    let mut tally = Tally::default();
    let frames = (32..=recording.log.len()).step_by(24 + 4096).flat_map(|end| [end - 1, end, end + 1]);
    let cuts = frames.chain((0..=recording.log.len()).step_by(997)).filter(|cut| *cut <= recording.log.len());
    for cut in cuts {
        let log = &recording.log[..cut];
        let fate = Fate::Undone(Rest::Whole);
        tally.add(recording.check_log(fate, log).map_err(|error| format!("before, cut at {cut}: {error}")));
        // Nothing is carried out before the batch is flushed, but a copy of the folder may go together with less.
        tally.add(recording.check_log(Fate::Done, log).map_err(|error| format!("after, cut at {cut}: {error}")));
    }
    tally.finish("log cut");
}

#[test]
fn recovery_with_a_flipped_byte_in_the_log_gives_before_or_after() {
    let recording = recording();
    let mut tally = Tally::default();
    for at in (0..recording.log.len()).step_by(97) {
        let mut log = recording.log.clone();
        log[at] ^= 0xff;
        let fate = if at % 2 == 0 { Fate::Undone(Rest::Whole) } else { Fate::Done };
        tally.add(recording.check_log(fate, &log).map_err(|error| format!("flipped {at}: {error}")));
    }
    tally.finish("log with a flipped byte");
}

#[test]
fn a_damaged_database_touches_no_note() {
    let mut recording = recording();
    // All of it in the database itself, the batch unfinished.
    let fate = Fate::Undone(Rest::Whole);
    let tree = recording.tree(&recording.fates(fate)).unwrap();
    recording.lay_out(&tree, &recording.fates(fate), &recording.log[..recording.marks.certain]);
    let path = state_file(recording.env.path(), "");
    journal(recording.env.path()).unwrap().checkpoint().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let mut tally = Tally::default();
    let mut damaged = 0;
    let mut check = |name: String, database: Vec<u8>| {
        recording.database = database;
        let result = recording.check_log(fate, &[]);
        damaged += usize::from(matches!(open_quick(recording.env.path()), Err(VaultError::Damaged(_))));
        tally.add(result.map_err(|error| format!("{name}: {error}")));
    };
    for at in (0..whole.len()).step_by(97) {
        let mut database = whole.clone();
        database[at] ^= 0xff;
        check(format!("flipped {at}"), database);
    }
    for length in (1..whole.len()).step_by(1009) {
        check(format!("cut at {length}"), whole[..length].to_vec());
    }
    assert!(damaged > 0);
    println!("{damaged} of them seen to be damaged");
    tally.finish("damaged database");
}
