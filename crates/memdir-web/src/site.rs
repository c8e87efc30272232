//! [`Site`]: the memory that is shown, and how its pages are made on threads that may wait.

use std::sync::{Arc, OnceLock};
use std::{fmt, io};

use axum::extract::FromRef;
use axum::response::{IntoResponse, Response};
use maud::Markup;
use memdir_core::action::{Action, Call};
use memdir_core::report::{Code, Failure, Report};
use memdir_dialect::Parsed;
use memdir_engine::{Caller, Engine};
use memdir_server::{JobError, Lane, ServedEngine};
use memdir_tools::Toolbox;
use tokio_util::sync::CancellationToken;

use crate::WebOptions;
use crate::assets::Assets;
use crate::door::{Door, DoorEvent, EntryCode, Notice, Visitor};
use crate::glance::Glance;
use crate::layout::{self, Page};
use crate::live::Live;
use crate::person_files::PersonFiles;
use crate::refusal::Refusal;
use crate::talk::{ChatModel, Talk};

/// How the history calls this door.
pub(crate) const DOOR: &str = "web";

/// A memory that is shown in browsers of this machine.
pub struct Site {
    pub(crate) served: Arc<ServedEngine>,
    pub(crate) options: WebOptions,
    pub(crate) door: Door,
    pub(crate) assets: Assets,
    pub(crate) live: Live,
    pub(crate) glance: Glance,
    pub(crate) talk: Talk,
    person_files: OnceLock<Arc<dyn PersonFiles>>,
    toolbox: OnceLock<Arc<dyn Toolbox>>,
}

impl fmt::Debug for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Site").field("options", &self.options).finish_non_exhaustive()
    }
}

impl FromRef<Arc<Site>> for Assets {
    fn from_ref(site: &Arc<Site>) -> Self {
        site.assets.clone()
    }
}

impl FromRef<Arc<Site>> for Live {
    fn from_ref(site: &Arc<Site>) -> Self {
        site.live.clone()
    }
}

/// What a change is answered with.
pub(crate) enum Then {
    /// Another page, above which is said once what was done.
    Go {
        /// Its address.
        to: String,
        /// What is said.
        notice: Notice,
    },
    /// A page about what was not done, with the status of the failure.
    Show(Failure, Page),
    /// A page that can be shown this once alone.
    Page(Page),
}

impl Site {
    /// Joins an engine with the pages.
    #[must_use]
    pub fn new(engine: Engine, options: WebOptions) -> Arc<Self> {
        let door = Door::new(options.names.clone(), options.port);
        Arc::new(Self {
            served: ServedEngine::new(engine),
            options,
            door,
            assets: Assets::new(),
            live: Live::default(),
            glance: Glance::default(),
            talk: Talk::default(),
            person_files: OnceLock::new(),
            toolbox: OnceLock::new(),
        })
    }

    /// Gives the pages what the person keeps beside the memory; the first one counts.
    pub fn set_person_files(&self, files: Arc<dyn PersonFiles>) {
        // A second one has nothing to do.
        let _ = self.person_files.set(files);
    }

    /// Gives the pages a model to talk with; the first one counts.
    pub fn set_chat_model(&self, model: Arc<dyn ChatModel>) {
        self.talk.set_model(model);
    }

    /// Gives the pages the tools of other servers; the first ones count.
    pub fn set_toolbox(&self, toolbox: Arc<dyn Toolbox>) {
        // A second one has nothing to do.
        let _ = self.toolbox.set(toolbox);
    }

    /// The tools of other servers, where there are any.
    pub(crate) fn toolbox(&self) -> Option<&dyn Toolbox> {
        self.toolbox.get().map(AsRef::as_ref)
    }

    /// What the person keeps beside the memory.
    pub(crate) fn person_files(&self) -> Result<&dyn PersonFiles, Failure> {
        let files = self.person_files.get().map(AsRef::as_ref);
        files.ok_or_else(|| Failure::new(Code::Unavailable, "this page was started without rules and clients"))
    }

    /// Makes a code that lets one browser in, once. It takes the place of the one before.
    ///
    /// # Errors
    ///
    /// What the system says when it gives no random numbers.
    pub fn new_code(&self) -> io::Result<EntryCode> {
        self.door.new_code()
    }

    /// Tells of who comes in and who is put out, on the thread that serves: `hear` must not wait. The first one counts.
    pub fn tell_of_door(&self, hear: impl Fn(DoorEvent) + Send + Sync + 'static) {
        self.door.tell(Box::new(hear));
    }

    /// Waits for what the threads have begun, and ends them. Nothing is answered any more.
    pub fn finish(&self) {
        self.close();
        self.served.finish();
    }

    /// Begins to tell open pages of changes.
    pub(crate) fn watch(self: &Arc<Self>) {
        let (begun, told) = (Arc::downgrade(self), Arc::downgrade(self));
        let begin = move || begun.upgrade().into_iter().for_each(|site| site.live.begin());
        let hear = move |noticed: &_| told.upgrade().into_iter().for_each(|site| site.live.hear(noticed));
        self.served.watch(begin, hear);
        self.served.build_index_soon();
    }

    /// Ends what would go on for ever.
    pub(crate) fn close(&self) {
        self.live.close();
    }

    /// Ends when the site does.
    pub(crate) fn closing(&self) -> CancellationToken {
        self.live.closing()
    }

    /// Something was changed from here: nothing that is kept about the notes holds any more.
    pub(crate) fn changed(&self) {
        self.glance.clear();
        self.live.changed();
    }

    /// The person, at this door.
    pub(crate) fn person(&self) -> Caller {
        Caller { mode: self.options.mode, ..Caller::person(DOOR) }
    }

    /// Makes a page on a thread that reads. What was read is soon in the audit.
    pub(crate) async fn show(
        self: &Arc<Self>,
        visitor: &Visitor,
        make: impl FnOnce(&Self, &Visitor) -> Result<Page, Failure> + Send + 'static,
    ) -> Response {
        let (site, asking) = (Arc::clone(self), visitor.clone());
        let made = self.served.run(Lane::Read, move || {
            let made = make(&site, &asking);
            made.map(|page| site.whole(&asking, page))
        });
        let made = made.await;
        self.served.settle_soon();
        self.served.build_index_soon();
        match made {
            Ok(Ok(page)) => page.into_response(),
            Ok(Err(failure)) => self.failed(visitor, &failure),
            Err(error) => unfinished(error).into_response(),
        }
    }

    /// Makes a change on the thread that writes.
    pub(crate) async fn change(
        self: &Arc<Self>,
        visitor: &Visitor,
        make: impl FnOnce(&Self, &Visitor) -> Result<Then, Failure> + Send + 'static,
    ) -> Response {
        let (site, asking) = (Arc::clone(self), visitor.clone());
        let made = self.served.run(Lane::Write, move || make(&site, &asking)).await;
        self.changed();
        let waits = match &made {
            Ok(Ok(Then::Show(failure, _)) | Err(failure)) if failure.code == Code::AwaitingApproval => {
                failure.details.waiting.or(failure.details.proposal)
            }
            _ => None,
        };
        if let Some(proposal) = waits {
            // By the person's own rules. What was typed is in the proposal, and is shown there.
            visitor.leave(Notice::of(Some("This waits for your yes".to_owned()), None));
            return axum::response::Redirect::to(&format!("/inbox/{proposal}")).into_response();
        }
        match made {
            Ok(Ok(Then::Go { to, notice })) => {
                visitor.leave(notice);
                axum::response::Redirect::to(&to).into_response()
            }
            Ok(Ok(Then::Show(failure, page))) => {
                (layout::status(failure.code), self.whole(visitor, page)).into_response()
            }
            Ok(Ok(Then::Page(page))) => self.whole(visitor, page).into_response(),
            Ok(Err(failure)) => self.failed(visitor, &failure),
            Err(error) => unfinished(error).into_response(),
        }
    }

    fn whole(&self, visitor: &Visitor, page: Page) -> Markup {
        layout::whole(&self.assets, &self.options.root, visitor, page)
    }

    /// Carries out actions of the person's, all or none, and gives the first failure if there is one.
    pub(crate) fn act(&self, actions: impl IntoIterator<Item = Action>) -> Result<Report, Failure> {
        let calls = (1..).zip(actions).map(|(index, action)| Call::plain(index, action));
        let engine = self.served.engine();
        let mut report = engine.conclude(engine.propose(Parsed::of(calls), self.person()));
        let failed = report.actions.iter_mut().find_map(|outcome| match &outcome.result {
            Ok(_) => None,
            Err(failure) => Some(failure.clone()),
        });
        match failed.or_else(|| report.error.take()) {
            Some(failure) => Err(without_hint_for_models(failure)),
            None => Ok(report),
        }
    }

    /// The engine, for work on a thread that may wait.
    pub(crate) fn engine(&self) -> &Engine {
        self.served.engine()
    }

    /// The page that says why there is none.
    pub(crate) fn failed(&self, visitor: &Visitor, failure: &Failure) -> Response {
        let names_action = failure.hint.as_deref().is_some_and(|hint| hint.starts_with("list_files"));
        let failure = &if names_action { without_hint_for_models(failure.clone()) } else { failure.clone() };
        let page = layout::failure(failure);
        (layout::status(failure.code), self.whole(visitor, page)).into_response()
    }
}

/// The hints of actions name other actions, which only a model can send. The pages have buttons. What the disk needs is the same for all.
pub(crate) fn without_hint_for_models(failure: Failure) -> Failure {
    let hint = match failure.code {
        Code::NoWriteAccess | Code::DiskFull | Code::Damaged | Code::Io => return failure,
        Code::Conflict => Some("nothing was changed: look at the note as it is now"),
        Code::AlreadyExists => Some("choose another name, or open what is there"),
        Code::NotFound => Some("look for the note under Notes"),
        Code::Denied => Some("the rules under Settings say what may be changed"),
        Code::Busy => Some("try again in a moment"),
        _ => None,
    };
    Failure { hint: hint.map(str::to_owned), ..failure }
}

pub(crate) fn unfinished(error: JobError) -> Refusal {
    match error {
        JobError::Gone => Refusal::Ending,
        JobError::Panicked => Refusal::Fault,
        JobError::Moved => Refusal::Moved,
    }
}

/// The failure of an action that was answered with a value of another kind than its own.
pub(crate) fn unexpected() -> Failure {
    Failure::new(Code::Internal, "the action was answered with another kind of value")
}
