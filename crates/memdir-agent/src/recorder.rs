//! [`Recorder`]: writes what happens while a message is answered, as it happens.
//!
//! Each line is on the disk before the next thing is done, so that whoever ends the program loses at most the line in hand. What
//! cannot be written does not keep a message from being answered: the person is told.

use super::line::{Line, Voice};
use super::session::Session;
use memdir_core::report::{Code, Failure, Issue};
use memdir_core::time::Timestamp;
use memdir_engine::{Engine, SessionLog};
use memdir_vault::SessionMark;

/// The issue that says that a conversation is not kept.
pub const UNKEPT: &str = "session_not_kept";

/// Writes down one message and what comes of it. The session is locked as long as this lives.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    file: Option<SessionLog>,
    /// Why something is not written down.
    trouble: Option<Failure>,
    /// What the file was when something could not be written.
    left: Option<SessionMark>,
}

impl Recorder {
    /// Opens the file of a session, or makes it; a session with which somebody else went on meanwhile is read anew.
    ///
    /// # Errors
    ///
    /// `busy` while another process answers in it; `denied`, `damaged`, `too_large` for one that somebody else has changed.
    pub(super) fn open(engine: &Engine, session: &mut Session, voice: Voice, now: Timestamp) -> Result<Self, Failure> {
        let opened = match session.written.mark.map(|_| engine.open_session(&session.id)) {
            Some(Err(failure)) if matches!(failure.code, Code::Busy | Code::Denied | Code::TooLarge) => {
                return Err(failure);
            }
            Some(Err(failure)) if failure.code == Code::NotFound => {
                // The person has removed it: what was said is gone, what it may do is not.
                let (switches, typed) = (std::mem::take(&mut session.switches), session.typed);
                let (last, tools) = (session.next_number() - 1, std::mem::take(&mut session.tools));
                *session = Session { switches, typed, tools, last, ..Session::new(session.id.clone()) };
                engine.begin_session(&session.id, now).map(|file| (file, Vec::new()))
            }
            Some(opened) => opened,
            None => engine.begin_session(&session.id, now).map(|file| (file, Vec::new())),
        };
        let mut recorder = match opened {
            Ok((file, lines)) => {
                catch_up(session, file.mark(), &lines)?;
                Self { file: Some(file), ..Self::default() }
            }
            Err(failure) => Self { trouble: Some(failure), ..Self::default() },
        };
        if session.written.voice.as_ref() != Some(&voice) {
            let model = voice.clone();
            let line = match session.written.voice {
                None => Line::Begin { session: session.id.clone(), time: now, model },
                Some(_) => Line::Model { model },
            };
            if recorder.write(&line) {
                session.written.voice = Some(voice);
            }
        }
        if session.written.switches != session.switches
            && recorder.write(&Line::Switches { switches: session.switches.clone() })
        {
            session.written.switches = session.switches.clone();
        }
        Ok(recorder)
    }

    /// Writes a line, and says whether it is there. After one that could not be written nothing more is.
    pub(super) fn write(&mut self, line: &Line) -> bool {
        let Some(file) = &mut self.file else { return false };
        let written = line.encode().and_then(|line| file.append(&line));
        let Err(failure) = written else { return true };
        tracing::warn!(code = %failure.code, "the session was not written");
        self.trouble = Some(failure);
        self.left = self.file.take().map(|file| file.mark());
        false
    }

    /// Lets go of the file, and tells what could not be written.
    pub(super) fn close(self, session: &mut Session) -> Option<Issue> {
        // Where something could not be written, the next message tries again on what is there.
        session.written.mark = self.file.as_ref().map(SessionLog::mark).or(self.left).or(session.written.mark);
        let failure = self.trouble?;
        let message = format!("the conversation is not kept: {}", failure.message);
        Some(Issue { code: UNKEPT, index: None, message })
    }
}

/// Reads a session anew where its file is not as we left it.
fn catch_up(session: &mut Session, mark: SessionMark, lines: &[u8]) -> Result<(), Failure> {
    if session.written.mark.is_none_or(|left| left == mark) {
        return Ok(());
    }
    let mut now = Session::of(&session.id, lines)?;
    now.last = now.last.max(session.last);
    now.typed = session.typed;
    now.tools.join(std::mem::take(&mut session.tools));
    // What the person has switched here since it was written counts.
    if session.switches != session.written.switches {
        now.switches = std::mem::take(&mut session.switches);
    }
    *session = now;
    Ok(())
}
