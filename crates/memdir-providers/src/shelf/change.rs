//! What changes a shelf: what is written down of a model comes and goes, its file with it.
//!
//! Each change is made under a lock on the folder, which is held for that instant only; who writes a part holds a lock on that, too,
//! for as long as it takes.

use super::{Kept, New, Record, Shelf, ShelfError, VERSION, disk, failed, is_name};

impl Shelf {
    /// Takes a model off the shelf, or what was fetched of one. A file that lies elsewhere stays.
    ///
    /// # Errors
    ///
    /// [`ShelfError::NotThere`], [`ShelfError::Busy`], [`ShelfError::Io`].
    pub fn remove(&self, name: &str) -> Result<(), ShelfError> {
        let is_there = |path: &std::path::Path| is_name(name) && disk::open(path).is_ok();
        let has_part = is_there(&self.part(name));
        if let Err(error @ ShelfError::NotThere { .. }) = self.find(name)
            && !has_part
            && !is_there(&self.file(name))
        {
            return Err(error);
        }
        let _lock = self.lock()?;
        if has_part {
            let _lock = self.open_part(name)?;
            self.remove_part(name)?;
        }
        // What is written down goes last: where a crash comes between, the same command ends it.
        for file in [format!("{name}.part.json"), format!("{name}.gguf"), format!("{name}.toml")] {
            self.remove_file(&file)?;
        }
        Ok(())
    }

    /// Opens the part of a model, for this process alone.
    pub(crate) fn open_part(&self, name: &str) -> Result<disk::File, ShelfError> {
        disk::make_folder(&self.folder).map_err(|error| failed("made", "the folder of models", &error))?;
        disk::open_part(&self.part(name)).map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => ShelfError::Busy(name.to_owned()),
            _ => failed("written", &format!("{name}.part"), &error),
        })
    }

    /// Removes the part of a model, with what is known of it.
    pub(crate) fn remove_part(&self, name: &str) -> Result<(), ShelfError> {
        self.remove_file(&format!("{name}.part.json"))?;
        self.remove_file(&format!("{name}.part"))
    }

    /// Gives a part that is whole its name, and writes down what is known of it.
    ///
    /// What is written down comes first: after a crash the file is known to be missing, and all of it is still there as a part.
    pub(crate) fn settle(&self, part: &disk::File, new: New) -> Result<Kept, ShelfError> {
        let what = format!("{}.part", new.name);
        let unwritten = |error| failed("written", &what, &error);
        part.sync_all().map_err(unwritten)?;
        let metadata = part.metadata().map_err(unwritten)?;
        let _lock = self.lock()?;
        if let Some(kept) = self.known(&new.name, true, new.digest)? {
            self.remove_part(&kept.name)?;
            return Ok(kept);
        }
        let file = self.file(&new.name);
        let kept = new.kept(file, false, &metadata);
        self.write(&kept)?;
        if let Err(error) = disk::rename(&self.part(&kept.name), &kept.file) {
            // It says of no file that it is there; where it cannot go, the next to take the name writes it anew.
            let _ = disk::remove(&self.record_file(&kept.name));
            return Err(unwritten(error));
        }
        disk::flush_folder(&self.folder).map_err(unwritten)?;
        // The part is the file now; one with its name is another's.
        self.remove_file(&format!("{}.part.json", kept.name))?;
        Ok(kept)
    }

    /// Writes down where a file lies that stays there.
    pub(super) fn note_place(&self, kept: Kept) -> Result<Kept, ShelfError> {
        let _lock = self.lock()?;
        if let Some(kept) = self.known(&kept.name, true, kept.digest)? {
            return Ok(kept);
        }
        self.write(&kept)?;
        Ok(kept)
    }

    /// Writes down when the file of a model was changed last, if the model is still what it was.
    pub(super) fn note_time(&self, kept: &Kept, modified: i64) -> Result<(), ShelfError> {
        let _lock = self.lock()?;
        if self.find(&kept.name)? == *kept { self.write(&Kept { modified, ..kept.clone() }) } else { Ok(()) }
    }

    /// Locks the folder, which is made if it is not there; nothing where the system locks no folders.
    fn lock(&self) -> Result<Option<disk::File>, ShelfError> {
        disk::make_folder(&self.folder).map_err(|error| failed("made", "the folder of models", &error))?;
        disk::lock_folder(&self.folder).map_err(|error| failed("locked", "the folder of models", &error))
    }

    /// Writes down what is known of a model, under the lock.
    fn write(&self, kept: &Kept) -> Result<(), ShelfError> {
        let record = Record {
            version: VERSION,
            sha256: kept.digest,
            bytes: kept.bytes,
            modified: kept.modified,
            source: kept.source.clone(),
            licence: kept.licence.clone(),
            added: kept.added,
            file: kept.is_in_place.then(|| kept.file.clone()),
        };
        let what = format!("{}.toml", kept.name);
        let text = toml::to_string(&record).map_err(|_| ShelfError::Record {
            name: kept.name.clone(),
            why: "the path of its file is no UTF-8".to_owned(),
        })?;
        disk::write_text(&self.record_file(&kept.name), &text).map_err(|error| failed("written", &what, &error))?;
        disk::flush_folder(&self.folder).map_err(|error| failed("written", &what, &error))
    }

    fn remove_file(&self, file: &str) -> Result<(), ShelfError> {
        disk::remove(&self.folder.join(file)).map_err(|error| failed("removed", file, &error))
    }
}
