//! Folders of notes, made from a seed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use memdir_core::time::Timestamp;
use memdir_engine::{Caller, Engine, InboxPlace, IndexPlace, Settings};
use memdir_plan::Limits;
use memdir_policy::Rules;
use memdir_vault::{Options, Vault};

/// Raised when the notes become others, so that folders of an earlier run are made anew.
const VERSION: &str = "1";
/// Notes in one folder.
const FOLDER: usize = 500;

const WORDS: &[&str] = &[
    "garden",
    "meeting",
    "the",
    "a",
    "remembers",
    "ticket",
    "of",
    "river",
    "prefers",
    "tea",
    "and",
    "with",
    "moved",
    "to",
    "bought",
    "winter",
    "project",
    "kitchen",
    "before",
    "teacher",
    "sends",
    "photo",
    "island",
    "on",
    "Monday",
    "asked",
    "about",
    "train",
    "late",
    "morning",
    "small",
    "blue",
    "house",
    "dentist",
    "in",
    "spring",
    "music",
    "plan",
];

/// A generator of numbers that always gives the same ones.
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % end.max(1)
    }
}

/// Where everything lies that this bench makes: on the disk of the build, since a RAM disk flushes nothing.
pub(crate) fn scratch() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bars");
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder.canonicalize().expect("it is there")
}

/// An empty folder of this name.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let folder = scratch().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// A folder of `count` notes without a `.memdir`; it is made once.
pub(crate) fn vault(count: usize) -> PathBuf {
    let folder = scratch().join(format!("notes-{count}"));
    let stamp = scratch().join(format!("notes-{count}.made"));
    if fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        clean(&folder);
        return folder;
    }
    let _ = fs::remove_dir_all(&folder);
    for number in 0..count {
        let path = folder.join(path(number));
        if number % FOLDER == 0 {
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder can be made");
        }
        fs::write(path, text(number)).expect("a note can be written");
    }
    fs::write(stamp, VERSION).expect("a stamp can be written");
    folder
}

/// Takes what `exec` has made out of a folder of [`vault`].
pub(crate) fn clean(folder: &Path) {
    let _ = fs::remove_dir_all(folder.join(".memdir"));
    let _ = fs::remove_file(folder.join("made.md"));
}

/// The path of a note of [`vault`].
pub(crate) fn path(number: usize) -> String {
    format!("topics/t{:03}/note-{number:06}.md", number / FOLDER)
}

/// A note of about 1.8 KB, which holds the line `- visits: 0` once.
pub(crate) fn text(number: usize) -> String {
    let mut seed = Seed::new(number as u64 + 1);
    let mut text =
        format!("---\ntags: [bench]\n---\n# Note {number}\n\n- visits: 0\n- see: [[note-{:06}]]\n", number / 2);
    while text.len() < 1750 + number % 100 {
        text.push_str(if seed.below(3) == 0 { "\n- " } else { "\n" });
        for _ in 0..8 + seed.below(8) {
            let word = WORDS.get(seed.below(WORDS.len())).copied().unwrap_or_default();
            let _ = write!(text, "{word} ");
        }
    }
    text.push('\n');
    text
}

/// Opens the memory at a folder as `exec` does.
pub(crate) fn open(folder: &Path) -> Vault {
    let path = folder.canonicalize().expect("the folder is there");
    let dir = Dir::open_ambient_dir(&path, ambient_authority()).expect("the folder can be opened");
    Vault::open(dir, path, Options::default()).expect("the memory can be opened")
}

/// An engine for the memory at a folder, which keeps no index.
pub(crate) fn engine(folder: &Path) -> Engine {
    engine_with(folder, IndexPlace::Nowhere)
}

/// An engine for the memory at a folder, with its index at a place.
pub(crate) fn engine_with(folder: &Path, index: IndexPlace) -> Engine {
    let settings = Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: std::time::Duration::from_secs(30),
        rules: Rules::default(),
        index,
        inbox: InboxPlace::Disk,
        past_status: Vec::new(),
        archive: Vec::new(),
        pinned: Vec::new(),
        keep_proposals: std::time::Duration::from_secs(7 * 24 * 60 * 60),
        clock: || Timestamp::from(std::time::SystemTime::now()),
    };
    Engine::new(open(folder), settings)
}

/// Who asks in this bench.
pub(crate) fn caller() -> Caller {
    Caller::model("exec")
}
