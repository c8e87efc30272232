//! What others do to the files of an unfinished batch is theirs, and stays.

use super::recovery::{Fate, Files, Recording, Rest, Tally, files, open_quick, scenarios};
use super::{Env, commit, path, put};
use memdir_plan::Step;

/// What an editor does to a note after the crash.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// Writes into the file that has the name.
    InPlace,
    /// Saves a new file under the name.
    Replace,
    /// Goes on writing to the file that it has had open all the time, wherever that is now.
    Displaced,
}

const TEXT: &str = "an editor's";

impl Recording {
    /// Lays out a state, lets an editor change the file of a step, recovers and writes.
    fn check_edit(&self, fates: &[Fate], index: usize, edit: Edit) -> Result<bool, String> {
        let Some(tree) = self.tree(fates) else { return Ok(false) };
        self.lay_out(&tree, fates, &self.log[..self.marks.certain]);
        let root = self.env.path();
        let before = self.origin(self.target(index).as_str());
        let names = [before, self.target(index).to_string()];
        let Some(name) = names.iter().find(|name| tree.contains_key(*name)) else { return Ok(false) };
        match edit {
            Edit::InPlace => std::fs::write(root.join(name), TEXT).unwrap(),
            Edit::Replace => {
                std::fs::write(root.join("saving"), TEXT).unwrap();
                std::fs::rename(root.join("saving"), root.join(name)).unwrap();
            }
            Edit::Displaced => {
                let mut asides = tree.keys().filter(|name| name.ends_with(&format!("-{index}.tmp")));
                let Some(aside) = asides.next().filter(|_| fates[index] == Fate::Done) else { return Ok(false) };
                std::fs::write(root.join(aside), TEXT).unwrap();
            }
        }
        let vault = open_quick(root).map_err(|error| format!("open: {error}"))?;
        commit(&vault, &[put("later.md", None, Some("later"))], None).map_err(|error| format!("later: {error}"))?;
        drop(vault);
        let mut found = files(root);
        found.remove("later.md");
        self.judge(&found, index).map(|()| true)
    }

    /// The edit is somewhere under a name that can be seen, and every other file is as before or as after.
    fn judge(&self, found: &Files, index: usize) -> Result<(), String> {
        let is_edit = |bytes: &Option<Vec<u8>>| bytes.as_deref() == Some(TEXT.as_bytes());
        let kept: Vec<&String> = found.iter().filter(|(_, bytes)| is_edit(bytes)).map(|(name, _)| name).collect();
        if kept.len() != 1 || kept[0].contains(".tmp") {
            return Err(format!("the edit is in {kept:?}"));
        }
        let names = [self.origin(self.target(index).as_str()), self.target(index).to_string()];
        let others = |files: &Files| {
            let mut files = files.clone();
            files.retain(|name, bytes| !names.contains(name) && !is_edit(bytes));
            files
        };
        let (found, before, after) = (others(found), others(&self.before), others(&self.after));
        if found == before || found == after { Ok(()) } else { Err(format!("half: {:?}", found.keys())) }
    }

    fn run_edits(&self) {
        let mut tally = Tally::default();
        let fates = self.all(|index| {
            let rest = if self.is_written(index) { Rest::Whole } else { Rest::Missing };
            vec![Fate::Undone(rest), Fate::Done]
        });
        for fates in fates {
            for (index, step) in self.scenario.steps.iter().enumerate() {
                if matches!(step, Step::Put { .. }) {
                    for edit in [Edit::InPlace, Edit::Replace, Edit::Displaced] {
                        let result = self.check_edit(&fates, index, edit);
                        tally.add(result.map_err(|error| format!("{fates:?}, {edit:?} of {index}: {error}")));
                    }
                }
            }
        }
        tally.finish(&format!("{}, edited after the crash", self.scenario.name));
    }
}

#[test]
fn an_edit_after_a_crash_is_kept() {
    for scenario in scenarios().into_iter().take(3) {
        Recording::new(scenario, None).run_edits();
    }
}

#[test]
fn what_a_lost_batch_has_left_is_in_nobodys_way() {
    let env =
        Env::new(&[("a.md", "a"), ("dir/b.md", "b"), (".memdir-1-0.tmp", "stale"), ("dir/.memdir-7-1.tmp", "stale")]);
    let vault = env.vault();
    commit(&vault, &[put("a.md", Some("a"), None)], None).unwrap();
    let remove = Step::RemoveFolder { path: path("dir"), mode: None };
    commit(&vault, &[put("dir/b.md", Some("b"), None), remove], None).unwrap();
    drop(vault);
    assert_eq!(env.snapshot(), []);
}

#[test]
fn a_folder_that_somebody_took_away_does_not_close_the_memory() {
    for scenario in scenarios().into_iter().take(3) {
        let recording = Recording::new(scenario, None);
        for fate in [Fate::Undone(Rest::Missing), Fate::Done] {
            let fates = vec![fate; recording.scenario.steps.len()];
            let tree = recording.tree(&fates).unwrap();
            recording.lay_out(&tree, &fates, &recording.log[..recording.marks.certain]);
            let root = recording.env.path();
            for name in ["dir", "moved"] {
                // Away, not gone: the simulated disk needs it again.
                let _ = std::fs::rename(root.join(name), root.join("elsewhere"));
            }
            let vault = open_quick(root).unwrap();
            commit(&vault, &[put("later.md", None, Some("later"))], None).unwrap();
        }
    }
}
