//! What every page has around it, and the parts that pages are composed of.

use std::path::Path;

use axum::http::StatusCode;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use memdir_core::report::{Code, Failure};

use crate::assets::Assets;
use crate::diff_lines::DiffLines;
use crate::door::{Notice, TOKEN, Visitor};
use crate::refusal::Refusal;
use crate::text;

/// The pages of the navigation that there are, in its order: which, its name, its address.
const SECTIONS: &[(Section, &str, &str)] = &[
    (Section::Home, "Home", "/"),
    (Section::Notes, "Notes", "/notes"),
    (Section::Search, "Search", "/search"),
    (Section::Inbox, "Inbox", "/inbox"),
    (Section::History, "History", "/history"),
    (Section::Audit, "Audit", "/audit"),
    (Section::Clients, "Clients", "/clients"),
    (Section::Conversations, "Conversations", "/conversations"),
    (Section::Chat, "Chat", "/chat"),
    (Section::Tools, "Tools", "/tools"),
    (Section::Settings, "Settings", "/settings"),
];

/// A page of the navigation, to which others may belong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Section {
    Home,
    Notes,
    Search,
    Inbox,
    History,
    Audit,
    Clients,
    Conversations,
    Chat,
    Tools,
    Settings,
    /// In none of them.
    Nowhere,
}

/// A page of the memory.
pub(crate) struct Page {
    /// Its title in the window; its heading is its own.
    title: String,
    here: Section,
    main: Markup,
}

impl Page {
    pub(crate) fn new(title: impl Into<String>, here: Section, main: Markup) -> Self {
        Self { title: title.into(), here, main }
    }
}

/// The whole of a page, with the notice that was left for it.
pub(crate) fn whole(assets: &Assets, root: &Path, visitor: &Visitor, page: Page) -> Markup {
    let memory = root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let notice = visitor.take_notice();
    frame(
        assets,
        &format!("{} · {memory}", page.title),
        html! {
            header .top {
                a .skip href="#main" { "Skip to the page" }
                a .brand href="/" { "memdir" }
                nav aria-label="Pages" {
                    ul {
                        @for (section, name, address) in SECTIONS {
                            li { a href=(address) aria-current=[(*section == page.here).then_some("page")] { (name) } }
                        }
                    }
                }
                form .find role="search" action="/search" method="get" {
                    label .unseen for="find" { "Search the memory" }
                    input #find type="search" name="q" placeholder="Search" autocomplete="off";
                }
            }
            main #main tabindex="-1" {
                @if let Some(notice) = notice { (said(visitor, &notice)) }
                (page.main)
            }
            footer .end { p { "This page is served by memdir on this machine, for " (root.display()) "." } }
        },
    )
}

/// What a change has done, with its way back.
fn said(visitor: &Visitor, notice: &Notice) -> Markup {
    html! {
        div #notice .notice role="status" {
            p { (code_spans(&sentence(&notice.text))) }
            @for issue in &notice.issues { p .hint { (code_spans(&sentence(issue))) } }
            @if let Some(batch) = notice.undo {
                (post(visitor, "/undo", html! {
                    input type="hidden" name="batch" value=(batch);
                    input type="hidden" name="back" value=(visitor.here());
                    button name="undo" { "Undo" }
                }))
            }
        }
    }
}

/// A form that changes something, with the token of its session.
pub(crate) fn post(visitor: &Visitor, action: &str, fields: Markup) -> Markup {
    html! {
        form method="post" action=(action) {
            input type="hidden" name=(TOKEN) value=(visitor.token());
            (fields)
        }
    }
}

/// As [`post`], for a text that takes time to write: it is not left by mistake.
pub(crate) fn post_kept(visitor: &Visitor, action: &str, fields: Markup) -> Markup {
    html! {
        form method="post" action=(action) data-keep {
            input type="hidden" name=(TOKEN) value=(visitor.token());
            (fields)
        }
    }
}

/// The page of a failure.
pub(crate) fn failure(failure: &Failure) -> Page {
    let main = html! {
        h1 { (heading(failure.code)) }
        (problem(failure))
        p { a href="/" { "Home" } " · " a href="/notes" { "Notes" } " · " a href="/search" { "Search" } }
    };
    Page::new(heading(failure.code), Section::Nowhere, main)
}

/// What is in the way, beside what it concerns.
pub(crate) fn problem(failure: &Failure) -> Markup {
    html! {
        div .problem role="alert" {
            p { (code_spans(&sentence(&failure.message))) }
            @if let Some(hint) = &failure.hint { p .hint { (code_spans(&sentence(hint))) } }
        }
    }
}

/// A table, which scrolls where it is too narrow for it; the keyboard can do that too.
pub(crate) fn wide(name: &str, table: &Markup) -> Markup {
    html! { div .wide role="group" tabindex="0" aria-label=(name) { (table) } }
}

/// A unified diff, each line with its sign.
pub(crate) fn diff(diff: &str) -> Markup {
    let mut lines = DiffLines::default();
    html! {
        pre .diff { code tabindex="0" { @for line in diff.lines() { span class=[lines.class(line)] { (text::seen(line)) "\n" } } } }
    }
}

/// The difference between two texts as a unified diff, as much of it as fits into so many bytes.
pub(crate) fn cut_diff(before: &str, after: &str, most_bytes: usize) -> String {
    let diff = similar::TextDiff::from_lines(before, after).unified_diff().context_radius(3).to_string();
    cut(&diff, most_bytes)
}

/// As much of a text as fits into so many bytes of a page.
pub(crate) fn cut(text: &str, most_bytes: usize) -> String {
    if text.len() <= most_bytes / 2 {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most_bytes / 2);
    format!("{}\n… and {} bytes more", text.get(..end).unwrap_or_default(), text.len() - end)
}

fn heading(code: Code) -> &'static str {
    match status(code) {
        StatusCode::NOT_FOUND => "This is not there",
        StatusCode::ACCEPTED => "This waits for you",
        _ => "This was not done",
    }
}

/// The status of an answer that tells of a failure.
pub(crate) fn status(code: Code) -> StatusCode {
    match code {
        Code::NotFound | Code::LinkNotFound | Code::HeadingNotFound => StatusCode::NOT_FOUND,
        Code::Conflict | Code::AlreadyExists | Code::NothingToUndo => StatusCode::CONFLICT,
        Code::AwaitingApproval => StatusCode::ACCEPTED,
        Code::Denied | Code::ReadOnly | Code::PermissionRequired | Code::OutsideMemory => StatusCode::FORBIDDEN,
        Code::Busy | Code::Timeout | Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal | Code::Io | Code::DiskFull | Code::Damaged => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// A message of the engine as a sentence, as [`seen`].
pub(crate) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if message.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    text::seen(&format!("{first}{}{end}", letters.as_str())).into_owned()
}

/// A message with what stands between backticks as code; one that has no other stays as it is.
pub(crate) fn code_spans(message: &str) -> Markup {
    let parts: Vec<&str> = message.split('`').collect();
    let pairs = parts.len() / 2;
    let is_closed = parts.len() % 2 == 1;
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 1 && (is_closed || at / 2 + 1 < pairs) { code { (part) } }
            @else if at % 2 == 1 { "`" (part) }
            @else { (part) }
        }
    }
}

/// The small page of a request that gets no other.
pub(crate) fn refused(assets: &Assets, refusal: Refusal) -> Markup {
    let (title, advice) = refusal.words();
    frame(
        assets,
        title,
        html! {
            main #main .refusal {
                h1 { (title) }
                p { (code_spans(advice)) }
                @match refusal {
                    Refusal::Name => {}
                    Refusal::Nowhere => p { a href="/" { "Home" } " · " a href="/search" { "Search" } },
                    _ => p { a href="/" { "Try again" } },
                }
            }
        },
    )
}

/// As many of these as fit into so many bytes, and how many do not.
pub(crate) fn fitting(items: impl IntoIterator<Item = Markup>, most_bytes: usize) -> (Markup, usize) {
    let (mut shown, mut left) = (String::new(), 0);
    for PreEscaped(item) in items {
        if left == 0 && shown.len() + item.len() <= most_bytes {
            shown.push_str(&item);
        } else {
            left += 1;
        }
    }
    (PreEscaped(shown), left)
}

fn frame(assets: &Assets, title: &str, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(assets.style);
                script src=(assets.script) defer {}
            }
            body { (body) }
        }
    }
}
