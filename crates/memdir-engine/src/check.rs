//! Looking for what is wrong in a memory: what is kept of each note is small, and an index has it already.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Engine;
use memdir_check::{self as check, Checked, File, Finding, Look, Side};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Line, Links, WrittenBy};
use memdir_note::{Canvas, Excluded, Note, Seen, Web, excluded};
use memdir_plan::{self as plan, Scan, Tree, TreeError};
use memdir_policy as policy;
use memdir_vault::Region;

/// Reads the text of a note.
type Read<'r> = &'r mut dyn FnMut(&MemoryPath) -> Option<String>;

/// What is kept of one note.
type Looked = (Option<Seen>, Look);

/// All files of a memory, and what is known of the notes.
#[derive(Default)]
struct Files {
    files: Vec<File>,
    seen: Vec<(MemoryPath, Option<Seen>)>,
}

impl Files {
    fn push(&mut self, path: MemoryPath, is_link: bool, seen: Option<Seen>, look: Option<Look>) {
        self.files.push(File { path: path.clone(), is_link, look });
        self.seen.push((path, seen));
    }
}

impl Engine {
    /// Says what is wrong in the memory; `looked` is told of each note that was read, from several threads.
    ///
    /// # Errors
    ///
    /// `io`.
    pub fn check(&self, looked: &(dyn Fn() + Sync)) -> Result<Checked, Failure> {
        let mut checked = self.with_seen(looked, |seen, read| check::check(seen, read))?;
        self.tell_writers(&mut checked.findings);
        Ok(checked)
    }

    /// How many of some findings `tidy` would propose to mend: not those that it has proposed before, and none where the history cannot be
    /// read, without which it proposes nothing.
    #[must_use]
    pub fn mendable(&self, findings: &[Finding]) -> usize {
        let Ok(known) = self.vault.tidied() else { return 0 };
        check::mends(findings).iter().filter(|step| !known.has(&step.identity())).count()
    }

    /// Looks over the whole memory for what `work` does with it.
    pub(super) fn with_seen<R>(
        &self,
        looked: &(dyn Fn() + Sync),
        work: impl FnOnce(&check::Seen<'_>, Read<'_>) -> R,
    ) -> Result<R, Failure> {
        let Files { files, seen } = match self.indexed_files(true) {
            Some(files) => files,
            None => self.scanned_files(looked)?,
        };
        let web = Web::new(self.with_canvases(seen));
        let links = web.links();
        let memory = check::Seen {
            files: &files,
            links: &links,
            targets: web.targets(),
            note_bytes: self.settings.limits.note_bytes,
            excluded: &self.excluded(),
            closed: &self.vault.closed_folders(),
            past_status: &self.settings.past_status,
        };
        Ok(work(&memory, &mut |path| {
            let (bytes, _) = self.vault.read_bytes(path, self.settings.limits.file_bytes).ok()?;
            String::from_utf8(bytes).ok()
        }))
    }

    /// The notes whose paths no action can name, as one that begins with a blank: nothing else tells of them. A path that is not UTF-8 has U+FFFD in its
    /// place. Where something cannot be looked into, those that were found before it.
    #[must_use]
    pub fn unnamed(&self) -> Vec<String> {
        let mut unnamed = Vec::new();
        let looked = self.vault.every_file(&mut |spot, _| {
            let is_note = spot.size.is_some() && spot.name().to_ascii_lowercase().ends_with(".md");
            if spot.region == Region::Open && is_note && spot.memory_path().is_none() {
                unnamed.push(spot.path.clone());
            }
            Ok(())
        });
        if let Err(error) = looked {
            tracing::warn!(%error, "not all names were looked at");
        }
        unnamed
    }

    /// Says of the lines that contradict each other who wrote them, as far as the history knows. Where one is trusted less than the
    /// other, the action takes out that one; where both are unconfirmed, there is no action.
    ///
    /// Leaves out the pairs of which the person has confirmed both lines: they may both stay. Leaves out also what may be a list,
    /// unless the history knows that different changes wrote the two lines.
    pub(super) fn tell_writers(&self, findings: &mut Vec<Finding>) {
        let mut known: HashMap<MemoryPath, (String, Vec<Line>)> = HashMap::new();
        findings.retain_mut(|finding| finding.sides.is_empty() || self.tell_writers_of(finding, &mut known));
    }

    /// Whether the lines of a finding contradict each other as far as the history knows.
    fn tell_writers_of(&self, finding: &mut Finding, known: &mut HashMap<MemoryPath, (String, Vec<Line>)>) -> bool {
        let (mut trusts, mut are_confirmed) = (Vec::new(), true);
        for side in &mut finding.sides {
            let read = || self.lines(&side.path).unwrap_or_default();
            let (_, lines) = known.entry(side.path.clone()).or_insert_with(read);
            let provenance = lines.get(side.line.saturating_sub(1)).map(|line| &line.provenance);
            side.by = provenance.and_then(|provenance| provenance.last_written.clone());
            are_confirmed &= provenance.is_some_and(|provenance| provenance.last_confirmed.is_some());
            // What the history does not know was written by another program.
            let trust = provenance.and_then(|provenance| provenance.trust).unwrap_or(WrittenBy::Outside);
            trusts.push(trust);
        }
        let changes: Vec<_> = finding.sides.iter().map(|side| side.by.as_ref().map(|by| by.batch)).collect();
        let are_apart = matches!(changes.as_slice(), [Some(one), Some(other)] if one != other);
        if are_confirmed || finding.may_be_list && !are_apart {
            return false;
        }
        if finding.action.is_some()
            && let Ok([one, other]) = <[_; 2]>::try_from(trusts)
            && let [told, beside] = finding.sides.as_slice()
        {
            let text = |side: &Side| known.get(&side.path).map(|(text, _)| text.as_str()).unwrap_or_default();
            let without = |side: &Side, kept: &Side| {
                check::without_fact(&side.path, text(side), side.line, (&kept.path, text(kept), kept.line), None)
            };
            match one.cmp(&other) {
                _ if one.needs_confirmation() && other.needs_confirmation() => finding.action = None,
                Ordering::Less => finding.action = without(told, beside),
                Ordering::Greater => finding.action = without(beside, told),
                Ordering::Equal => {}
            }
        }
        true
    }

    /// The text of a note whose lines a finding quotes.
    fn check_text(&self, path: &MemoryPath) -> Option<String> {
        let (bytes, _) = self.vault.read_bytes(path, self.settings.limits.file_bytes).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// The lines that contradict another line: of all notes, or of one note and of those that the index finds beside it.
    ///
    /// # Errors
    ///
    /// `io`, and those of `read_file` for a note that is named.
    pub(super) fn disputed(&self, note: Option<&MemoryPath>) -> Result<BTreeSet<(MemoryPath, usize)>, Failure> {
        let mut found = match note {
            Some(path) => self.contradictions_beside(path)?,
            None => {
                let Files { files, .. } = match self.indexed_files(true) {
                    Some(files) => files,
                    None => self.scanned_files(&|| ())?,
                };
                let own = files.iter().filter(|file| !file.is_link);
                self.contradictions_of(own.filter_map(|file| Some((&file.path, file.look.as_ref()?))))
            }
        };
        self.tell_writers(&mut found);
        Ok(found.into_iter().flat_map(|finding| finding.sides).map(|side| (side.path, side.line)).collect())
    }

    /// What a note says against itself and against the notes that the index finds beside it.
    fn contradictions_beside(&self, path: &MemoryPath) -> Result<Vec<Finding>, Failure> {
        let (bytes, _) = self.vault.read_bytes(path, self.settings.limits.file_bytes).map_err(plan::failure)?;
        let mut looks = self.looks_around(path, std::str::from_utf8(&bytes).unwrap_or_default());
        looks.insert(path.clone(), look(Ok(&bytes)).1);
        let of_note = |looks: &BTreeMap<MemoryPath, Look>| {
            let mut found = self.contradictions_of(looks.iter());
            found.retain(|finding| finding.sides.iter().any(|side| side.path == *path));
            found
        };
        let found = of_note(&looks);
        let sides = found.iter().flat_map(|finding| &finding.sides).map(|side| &side.path);
        let others: BTreeSet<&MemoryPath> = sides.filter(|other| *other != path).collect();
        if others.is_empty() {
            return Ok(found);
        }
        // The index may know an older text of the other notes.
        for other in others {
            match self.check_text(other) {
                Some(text) => looks.insert(other.clone(), look(Ok(text.as_bytes())).1),
                None => looks.remove(other),
            };
        }
        Ok(of_note(&looks))
    }

    /// What notes say against each other, without those that the person has set aside.
    fn contradictions_of<'n>(&self, looks: impl Iterator<Item = (&'n MemoryPath, &'n Look)>) -> Vec<Finding> {
        let excluded = self.excluded();
        let looks = looks.filter(|(path, _)| !excluded.holds(path));
        check::contradictions(looks, &self.settings.past_status, &mut |path| self.check_text(path))
    }

    /// Finds every link of the memory.
    ///
    /// # Errors
    ///
    /// `io`.
    pub fn links(&self) -> Result<Links, Failure> {
        let seen = match self.indexed_files(false) {
            Some(files) => files.seen,
            None => {
                self.scan(|_, text| Seen::of(text))?.into_iter().map(|file| (file.path, file.seen.flatten())).collect()
            }
        };
        Ok(Web::new(self.with_canvases(seen)).links())
    }

    /// What the person has set aside: in Obsidian, and as an archive in the settings.
    #[must_use]
    pub fn excluded(&self) -> Excluded {
        Excluded::of(|name| self.vault.obsidian(name, excluded::MOST_BYTES)).and_below(&self.settings.archive)
    }

    /// Adds what is on the canvases, which no index knows. What cannot be read is taken to hold nothing.
    fn with_canvases(&self, mut seen: Vec<(MemoryPath, Option<Seen>)>) -> Vec<(MemoryPath, Option<Seen>)> {
        for (path, seen) in seen.iter_mut().filter(|(path, _)| path.is_canvas()) {
            let read = self.vault.read_bytes(path, self.settings.limits.file_bytes).ok();
            let text = read.and_then(|(bytes, _)| String::from_utf8(bytes).ok());
            *seen = text.and_then(|text| Some(Canvas::parse(&text).ok()?.seen()));
        }
        seen
    }

    /// All files as the index has them, which is fresh, with what a check looks at or without; `None` where there is none.
    fn indexed_files(&self, looks: bool) -> Option<Files> {
        let mut found = None;
        let is_visited = self.visit(&mut |index| {
            let mut files = Files::default();
            index.each(looks, &mut |kept| {
                files.push(kept.path, kept.is_link, kept.seen, kept.look);
            })?;
            found = Some(files);
            Ok(())
        });
        found.filter(|_| is_visited)
    }

    fn scanned_files(&self, looked: &(dyn Fn() + Sync)) -> Result<Files, Failure> {
        let scan =
            Scan { folder: None, limit: self.settings.limits.file_bytes, wants: &MemoryPath::is_note, stop: &|| false };
        let look = |_: &MemoryPath, bytes: Result<&[u8], TreeError>| {
            looked();
            look(bytes)
        };
        let mut files = Files::default();
        for file in self.vault.scan(&scan, &look).map_err(plan::failure)? {
            let (seen, look) = file.seen.map_or((None, None), |(seen, look)| (seen, Some(look)));
            files.push(file.path, file.is_link, seen, look);
        }
        Ok(files)
    }
}

fn look(bytes: Result<&[u8], TreeError>) -> Looked {
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(TreeError::TooLarge { size, .. }) => return (None, Look::of_size(size)),
        Err(error) => return (None, Look::of_unread(error.to_string())),
    };
    let Ok(text) = std::str::from_utf8(bytes) else { return (None, Look::of_bytes(bytes)) };
    let note = Note::parse(text);
    let active = policy::active_content(text, || note.without_code());
    (Some(Seen::of_note(&note)), Look::of(text, &note, active))
}
