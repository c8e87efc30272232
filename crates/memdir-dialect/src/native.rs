//! The native dialect: `<think>`, `<actions>` with a JSON list, `<reply>`.
//!
//! Owns how its answer is written. Where its tags count is for [`super::turn`], what stands between them for
//! [`super::block`] and [`super::call`].

use super::call::{Entries, Names};
use super::tag::json_without_tags;
use super::tagged::Tagged;
use super::turn::What;
use super::{Frame, Parsed, lines};
use memdir_core::report::Report;

/// Reads the blocks of a text into calls; as [`lines`] where all of them have its names, unless `names` decides it.
pub(super) fn parse(text: &str, is_lossy: bool, tagged: Tagged, names: Option<Names>) -> Parsed {
    let Tagged { blocks, reply, repairs, .. } = tagged;
    let names = names.unwrap_or_else(|| lines::names_of(&blocks));
    let mut entries = Entries::new(text, is_lossy).with_names(names);
    for found in blocks {
        if found.is_echo {
            entries.echo();
        } else if let What::Actions(block) = found.what {
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
    format!("<result>\n{}\n</result>", json_without_tags(&json))
}
