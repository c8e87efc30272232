//! The native dialect: `<think>`, `<actions>` with a JSON list, `<reply>`.
//!
//! Owns how its answer is written. Where its tags count is for [`super::turn`], what stands between them for
//! [`super::block`] and [`super::call`].

use memchr::memchr_iter;

use super::call::{Entries, Names};
use super::tag::looks_like_tag;
use super::tagged::Tagged;
use super::turn::What;
use super::{Frame, Parsed, lines};
use crate::report::Report;

/// Reads the blocks of a text into calls; as [`lines`] where all of them have its names, unless `names` decides it.
pub(super) fn parse(text: &str, is_lossy: bool, tagged: Tagged, names: Option<Names>) -> Parsed {
    let Tagged { blocks, reply, repairs, .. } = tagged;
    let names = names.unwrap_or_else(|| lines::names_of(&blocks));
    let mut entries = Entries::new(text, is_lossy).with_names(names);
    for found in blocks {
        if let What::Actions(block) = found.what {
            entries.add(block, found.start, found.is_after_doubt);
        }
    }
    let mut issues: Vec<_> = repairs.issues().collect();
    issues.append(&mut entries.issues);
    let frame = match names {
        Names::Native => Frame::Native,
        Names::Lines => Frame::Lines,
    };
    Parsed { frame, entries: entries.entries, script: None, reply, issues }
}

pub(super) fn encode(report: &Report) -> String {
    let json = serde_json::to_string(report).unwrap_or_else(|_| "null".to_owned());
    format!("<result>\n{}\n</result>", without_tags(&json))
}

/// JSON in which the `<` of each tag is written as `\u003c`, which is the same JSON.
pub(super) fn without_tags(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 32);
    let mut copied = 0;
    for at in memchr_iter(b'<', json.as_bytes()).filter(|at| looks_like_tag(json, *at)) {
        text.push_str(json.get(copied..at).unwrap_or_default());
        text.push_str("\\u003c");
        copied = at + 1;
    }
    text.push_str(json.get(copied..).unwrap_or_default());
    text
}
