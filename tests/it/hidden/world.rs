//! A memory, and the same one with other things hidden in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use cap_std::fs::Dir;
use memdir_core::path::MemoryPath;
use memdir_core::report::{ConfigKey, Failure, Report};
use memdir_core::time::Timestamp;
use memdir_dialect::Parsed;
use memdir_engine::{Caller, Consent, Engine, InboxPlace, IndexPlace, PendingProposal, Reviewed, Settings};
use memdir_plan::{Limits, Seen};
use memdir_policy::{Grant, Mode, Rule, Rules, Verdict};
use memdir_vault::{Durability, Options, Vault};
use regex::Regex;
use serde_json::json;
use tempfile::TempDir;

use crate::support::said;

/// What a client may read and write.
pub(super) type Globs = (&'static [&'static str], &'static [&'static str]);

/// The grants that are tried.
pub(super) const GRANTS: &[Globs] = &[
    (&["**", "!private/**", "!people/**", "!shared/b/**", "!zz/**"], &["**"]),
    (&["work/**", "user.md", "lib/**", "memories/**"], &["work/**", "user.md", "memories/**"]),
    (&["**/pub*.md", "shared/*/x/**", "lib/*"], &["work/log/**", "shared/*/x/**", "new/deep/**", "*.png"]),
    (&["user.md", "work/*.md", "lib/in/**", "lib/*.md"], &["work/p*.md", "memories/a*.md", "people/*.md"]),
    (&["*"], &["private2/**"]),
    (&["lib/**"], &[]),
    (&["**", "!**/p*", "!shared/**"], &["work/**", "user.md"]),
    (&[], &["**/work/**", "work/**"]),
    (
        &["user.md", "lib/**"],
        &["work/**", "*/*/x/**", "shared/a/x/**", "memories/**", "private2/in/**", "people/bob.md"],
    ),
    // Folders that may be called otherwise, if it were not for what is in them.
    (&["lib/**"], &["p*", "user.md", "work/*", "private/deep/*"]),
];

/// A canvas with cards of what many may see, and few.
const CANVAS: &str = r#"{"nodes":[{"type":"file","file":"work/p1.md"},{"type":"file","file":"private/plan.md"},
{"type":"text","text":"[[p1]] and [[diary]]"}]}"#;

/// All notes, as they are before anything is done; which are hidden is for a grant to say.
const NOTES: &[(&str, &str)] = &[
    (
        "user.md",
        "---\ntags: [me]\n---\n# Ada\n\n- city: London\n- boss: [[boss]]\n\n## Links\n\n[[plan]] [[work/plan]] ![[diary#Monday]] [p](work/p1.md)\n",
    ),
    ("boss.md", "# Boss\n\n- city: Berlin\n\n[[user]] and [[plan|the plan]]\n"),
    ("pic.png", "no text \u{fffd}"),
    ("work/board.canvas", CANVAS),
    ("private/board.canvas", CANVAS),
    ("work/plan.md", "# Plan\n\nThe secret launch is in May. [[p1]] [[diary]] [[pub]]\n\n## Steps\n\n- one\n- two\n"),
    ("work/p1.md", "# P1\n\nsee [[plan#Steps]] and [[user]] [[../private/plan]]\n- city: Rome\n"),
    ("work/pub-a.md", "# Public\n\nlaunch, budget and boss\n"),
    ("work/log/2024.md", "# 2024\n\n- one\n"),
    ("work/log/pub.md", "# Log\n\n[[plan]] [[secret]]\n"),
    ("work/sub/secret.md", "# Secret\n\nThe launch budget is high. [[plan]] [[pub]] [[work/plan]]\n"),
    ("work/sub/deep/pub.md", "# Deep\n\nlaunch [[../../plan]]\n"),
    ("work/plan.sync-conflict-20240101-000000-ABCDEFG.md", "# Plan\n\nThe secret launch is in June.\n"),
    ("work/pic.png", "also none \u{fffd}"),
    ("private/plan.md", "# Plan\n\nThe secret launch is in May. [[p1]] [[work/plan]] [[work/log/pub]]\n"),
    ("private/plans.md", "# Plan\n\nThe secret launch is in May. [[p1]] [[diary]]\n"),
    ("private/diary.md", "# Diary\n\n## Monday\n\nlaunch party with [[boss]], [[plan]], [[user]]\n- city: London\n"),
    ("private/pub-b.md", "# B\n\n[[p1]] [[plan]] ananas\n"),
    ("private/deep/er/user.md", "# Ada\n\n- city: London\n\n[[user]]\n"),
    ("private2/a.md", "# A\n\n[[plan]] [[pic.png]]\n"),
    ("shared/a/x/pub.md", "# X\n\n[[notes]] [[plan]] [[secret]]\n"),
    ("shared/a/x/notes.md", "# Notes\n\n- city: Oslo\n"),
    ("shared/a/y/notes.md", "# Notes\n\nzebra [[x/notes]]\n"),
    ("shared/b/secret.md", "# Secret\n\nzebra [[pub]]\n"),
    ("lib/in/pub-c.md", "# C\n\n[[plan]] [[in]]\n"),
    ("lib/book.md", "# Book\n\nboss [[work/p1]] [[book]]\n"),
    ("memories/color.md", "---\nkey: Favorite Color\ntags: [taste]\n---\nblue\n"),
    ("memories/apple.md", "red\n"),
    ("memories/apples.md", "green\n"),
    ("people/bob.md", "# Bob\n\n- city: Paris\n[[user]] [[boss]]\n"),
    ("people/bob/pub.md", "# Bob in public\n"),
];

/// What is hidden in a memory beside the visible part, which is the same in all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Hidden {
    Nothing,
    /// The notes as they are above.
    Notes,
    /// The same names with other contents, and many more.
    Much,
}

/// How the person agrees.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given {
    ByDiff,
    ByCode,
    ForPart,
}

pub(super) const GIVEN: [Given; 3] = [Given::ByDiff, Given::ByCode, Given::ForPart];

/// What is added to hidden notes between a look at a proposal and its approval.
const STIRRED: &str = "\nstirred [[user]] [[p1]]\n";

/// One memory and the engine on it.
#[derive(Debug)]
pub(super) struct World {
    pub(super) folder: TempDir,
    pub(super) engine: Engine,
    pub(super) seen: Seen,
}

pub(super) fn grant((read, write): Globs) -> Grant {
    let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
    let (hidden, read): (Vec<_>, Vec<_>) = globs(read).into_iter().partition(|glob| glob.starts_with('!'));
    let hidden: Vec<_> = hidden.iter().map(|glob| glob.replacen('!', "", 1)).collect();
    Grant::new(&read, &globs(write), None).unwrap().hiding(&hidden).unwrap()
}

pub(super) fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn open(root: &Path) -> Engine {
    let root = root.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    let options = Options { durability: Durability::Atomic, ..Options::default() };
    let rule =
        |path: &str, verdict| Rule { action: None, path: Some(path.into()), client: None, detector: None, verdict };
    let settings = Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: Duration::from_secs(600),
        rules: Rules::new(vec![rule("work/log/**", Verdict::Ask), rule("private/deep/**", Verdict::Deny)]).unwrap(),
        index: IndexPlace::Nowhere,
        inbox: InboxPlace::Disk,
        past_status: Vec::new(),
        archive: Vec::new(),
        pinned: Vec::new(),
        keep_proposals: Duration::from_secs(60),
        clock: || Timestamp::from_seconds(1_000_000_000),
    };
    let told =
        ["permission.mcp", "facts.past_status"].map(|key| ConfigKey { key: key.into(), value: Some(json!("x")) });
    Engine::new(Vault::open(dir, root, options).unwrap(), settings).telling(told.into())
}

/// A model at this client.
pub(super) fn client(name: Option<&str>) -> Caller {
    Caller::model("mcp").for_client(name.map(str::to_owned))
}

impl World {
    pub(super) fn new(grant: &Grant, hidden: Hidden) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: &[u8]| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        for (name, text) in NOTES {
            match (grant.shows(&path(name)), hidden) {
                (true, _) | (false, Hidden::Notes) => write(name, text.as_bytes()),
                (false, Hidden::Nothing) => {}
                (false, Hidden::Much) => {
                    write(name, format!("# Other\n\n{text}{}", "launch boss [[plan]]\n".repeat(50)).as_bytes())
                }
            }
        }
        let hides = |name: &str| !grant.shows(&path(name)) && hidden != Hidden::Nothing;
        let more =
            (0..40).map(|number| (format!("zz/many/{number}.md"), format!("# {number}\n\n[[user]] [[p1]] launch\n")));
        for (name, text) in more.filter(|(name, _)| hidden == Hidden::Much && hides(name)) {
            write(&name, text.as_bytes());
        }
        if hides("zz/huge.md") {
            write("zz/huge.md", "[[plan]] [[user]] launch\n".repeat(2_000).as_bytes());
            write("zz/bytes.md", b"\xff\xfe [[plan]]");
        }
        let link = |name: &str, target: &str| {
            let name = folder.path().join(name);
            fs::create_dir_all(name.parent().unwrap()).unwrap();
            symlink(target, name).unwrap();
        };
        // Out of what is visible into what is hidden: there is nothing at such a name.
        if hides("private/diary.md") {
            link("lib/out.md", "../private/diary.md");
            if !grant.shows(&path("zz")) {
                link("lib/out", "../zz");
            }
            link("lib/nowhere.md", "../private/none.md");
        }
        // From one visible note or folder to another, from hidden names to visible notes, and in a circle.
        if grant.shows(&path("lib/in/pub-c.md")) {
            link("lib/same.md", "in/pub-c.md");
        }
        if hides("private/a-link.md") {
            link("private/a-link.md", "../user.md");
            // It is in sight where something is that a client may make behind it.
            if !grant.shows_below(&path("zz/circle")) {
                link("zz/circle", ".");
            }
        }
        // A folder whose name is shown is there for the client, whatever it holds.
        let folders = NOTES.iter().flat_map(|(name, _)| path(name).ancestors().collect::<Vec<_>>());
        for name in folders.chain(["work/empty", "zz", "zz/many"].map(path)).filter(|name| grant.shows(name)) {
            fs::create_dir_all(folder.path().join(name.as_str())).unwrap();
        }
        let engine = open(folder.path());
        let world = Self { folder, engine, seen: Seen::default() };
        world.history(grant, hidden);
        world
    }

    /// Batches of the owner's and of others, and their proposals.
    fn history(&self, grant: &Grant, hidden: Hidden) {
        for round in 0..3 {
            let edit =
                |name: &str| json!({"action": "append_file", "path": name, "content": format!("round {round}\n")});
            let names = ["private/diary.md", "user.md", "work/plan.md", "shared/b/secret.md", "lib/book.md"];
            let is_there = |name: &&&str| grant.shows(&path(name)) || hidden != Hidden::Nothing;
            let mut actions: Vec<_> = names.iter().filter(is_there).map(|name| edit(name)).collect();
            if hidden != Hidden::Nothing {
                actions.insert(0, json!({"action": "search_files", "query": "launch"}));
            }
            let caller = Caller { mode: Mode::Off, grant: None, ..self.caller(grant, Mode::Off) };
            let parsed = memdir_dialect::parse(said(&json!(actions)).as_bytes());
            drop(self.engine.conclude(self.engine.propose(parsed, caller)));
            // Another number of batches and of proposals in each.
            let is_more = hidden == Hidden::Much || hidden == Hidden::Notes && round == 0;
            for content in ["more\n", "- phone: +44 20 7946 0958"].iter().filter(|_| is_more) {
                let action = json!([{"action": "append_file", "path": "zz/huge.md", "content": content}]);
                let caller = Caller { mode: Mode::Ask, seen: Some(self.seen.clone()), ..client(Some("other")) };
                let parsed = memdir_dialect::parse(said(&action).as_bytes());
                drop(self.engine.conclude(self.engine.propose(parsed, caller)));
            }
        }
    }

    pub(super) fn caller(&self, grant: &Grant, mode: Mode) -> Caller {
        Caller { grant: Some(Arc::new(grant.clone())), mode, seen: Some(self.seen.clone()), ..client(Some("shelf")) }
    }

    /// All that the client is told of a text: the report, and the answer in its dialect.
    pub(super) fn answer(&mut self, parsed: Parsed, caller: Caller, is_dry: bool) -> (String, Report) {
        let frame = parsed.frame.clone();
        let proposal = self.engine.propose(parsed, caller);
        let report = if is_dry {
            self.engine.preview(proposal)
        } else {
            let (report, keep) = self.engine.conclude_in_conversation(proposal);
            self.seen.extend(keep.seen.unwrap_or_default());
            report
        };
        let tool = memdir_dialect::answer_tool_call(&frame, &report);
        let told = memdir_dialect::encode(&frame, &report);
        (format!("{}\n{told}\n{tool:?}", serde_json::to_value(&report).unwrap()), report)
    }

    /// The person looks at all that this client has proposed, changes hidden notes where these are stirred, and agrees to one
    /// proposal after the other: what the client may be told of it.
    pub(super) fn approve(&self, grant: &Grant, given: Given, is_stirred: bool) -> String {
        let mut told = String::new();
        let reviewed = self.engine.pending().unwrap().proposals;
        if is_stirred {
            self.stir(grant);
        }
        for Reviewed { waiting, told: diff, trouble, .. } in reviewed {
            if waiting.author.client.as_deref() != Some("shelf") {
                continue;
            }
            let trouble = trouble.map(|trouble| trouble.code);
            let done = self.agree(&waiting, given).map_err(|failure| failure.code);
            if done.is_err() {
                self.engine.reject(waiting.id, &client(None)).unwrap();
            }
            writeln!(told, "{:?} {} {trouble:?} {done:?}\n{diff}", waiting.own, waiting.reason).unwrap();
        }
        told
    }

    fn agree(&self, waiting: &PendingProposal, given: Given) -> Result<Vec<Vec<usize>>, Failure> {
        let (person, id) = (client(None), waiting.id);
        let (parts, done) = match given {
            Given::ByDiff => (Vec::new(), self.engine.approve(id, Consent::Shown(waiting.digest), &person)),
            Given::ByCode => (Vec::new(), self.engine.approve(id, Consent::Code(&waiting.code.show()), &person)),
            Given::ForPart => {
                let parts = self.engine.parts_of(id)?;
                let (_, shown) = self.engine.review_part(id, &parts[0])?;
                (parts.clone(), self.engine.approve_part(id, &parts[0], shown, &person))
            }
        };
        done.map(|_| parts).map_err(|error| error.failure)
    }

    /// Changes the notes that the client does not see; [`World::beyond`] leaves that out.
    fn stir(&self, grant: &Grant) {
        for (name, bytes) in self.files(|path| path.is_note() && !grant.shows(path)) {
            fs::write(self.folder.path().join(name), [bytes.as_slice(), STIRRED.as_bytes()].concat()).unwrap();
        }
    }

    /// The notes that the client can see, as they are on the disk.
    pub(super) fn visible(&self, grant: &Grant) -> BTreeMap<String, Vec<u8>> {
        self.files(|path| grant.shows(path))
    }

    /// What the client may not write, as it is on the disk but for its links, which a rename takes along.
    pub(super) fn beyond(&self, grant: &Grant) -> BTreeMap<String, String> {
        static LINKS: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r#"\[\[[^\]]*\]\]|\]\([^)]*\)|"file":"[^"]*""#).unwrap());
        let files = self.files(|path| !grant.lets_write(path)).into_iter();
        let text = |bytes: Vec<u8>| {
            let text = LINKS.replace_all(&String::from_utf8_lossy(&bytes), "…").into_owned();
            text.replace(&*LINKS.replace_all(STIRRED, "…"), "")
        };
        files.map(|(path, bytes)| (path, text(bytes))).collect()
    }

    /// The names of the files that it does not see: nothing that it does makes, moves or removes one.
    pub(super) fn hidden(&self, grant: &Grant) -> BTreeSet<String> {
        self.files(|path| !grant.shows(path)).into_keys().collect()
    }

    fn files(&self, wants: impl Fn(&MemoryPath) -> bool) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.folder.path().join(&folder)).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                if name.starts_with('.') {
                    continue;
                }
                let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(name);
                } else if kind.is_file() && wants(&path(&name)) {
                    found.insert(name, fs::read(entry.path()).unwrap());
                }
            }
        }
        found
    }
}
