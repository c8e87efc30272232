//! What is added below code, comments and HTML is text there: pulldown-cmark says what an item of a list is.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::json;

use super::*;

/// The texts that are items of a list, as another parser reads them.
fn items(text: &str) -> Vec<String> {
    let (mut items, mut depth) = (Vec::new(), 0);
    for event in Parser::new(text) {
        if let Event::Start(Tag::Item) = &event {
            depth += 1;
            items.push(String::new());
        } else if let Event::End(TagEnd::Item) = &event {
            depth -= 1;
        } else if let (Event::Text(text), Some(item)) = (&event, items.last_mut().filter(|_| depth > 0)) {
            item.push_str(text);
        }
    }
    items
}

/// Adds a fact below `text`, at the end and in the section `A`, and looks whether it is an item; `refused` is the line of what has no end.
#[track_caller]
fn check(text: &str, refused: Option<usize>) {
    let text = format!("# A\n\n{text}");
    let line = "- city: Paris";
    for action in [
        json!({"action": "append_file", "path": "n.md", "content": line}),
        json!({"action": "append_to_section", "path": "n.md", "heading": "A", "content": line}),
        json!({"action": "remember", "note": "n.md", "text": line}),
    ] {
        let tree = MapTree::of([("n.md", text.as_str())]);
        let (entry, after) = one(&tree, action);
        let after = std::str::from_utf8(after.get("n.md").unwrap()).unwrap();
        match refused {
            Some(line) => {
                let begins = format!("line {line} of `n.md` begins HTML, code or a comment that has no end");
                assert_eq!(entry["error"]["message"], begins, "{text}");
                assert_eq!(after, text);
            }
            None => {
                assert_eq!(entry["ok"], true, "{entry}");
                assert_eq!(items(after).last().unwrap().trim(), "city: Paris", "{after}");
                assert!(after.starts_with(&text), "{after}");
            }
        }
    }
}

#[test]
fn what_is_added_is_text() {
    for text in [
        "text\n",
        "- a: b\n",
        "<div>\n</div>\n",
        "<div>\n</div>",
        "<div>\n</div>\n\n",
        "<img src=\"a.png\">\n",
        "<!-- a -->\n",
        "text <!-- a\n",
        "<details>\n<summary>a</summary>\n",
        "```\na\n```\n",
        "~~~\na\n~~~",
        "- ```\n  a\n",
        "> ```\n> a\n",
        "a `b\n",
        "a < b\n",
    ] {
        check(text, None);
    }
    for (text, line) in [
        ("```\na\n", 3),
        ("```", 3),
        ("text\n\n~~~~ rust\na\n~~~\n\n", 5),
        ("<!-- a\nb\n", 3),
        ("<!--\n\n", 3),
        ("<pre>\na\n\n", 3),
        ("text\n<script>\na\n", 4),
    ] {
        check(text, Some(line));
    }
}

#[test]
fn what_ends_it_and_what_is_no_note_is_added() {
    let add = |name: &str, text: &str, content: &str| {
        let action = json!({"action": "append_file", "path": name, "content": content});
        let (entry, after) = one(&MapTree::of([(name, text)]), action);
        (entry["ok"] == true, String::from_utf8(after.get(name).unwrap().to_vec()).unwrap())
    };
    assert_eq!(add("n.md", "```\na\n", "b\n```\n- c"), (true, "```\na\nb\n```\n- c\n".to_owned()));
    assert_eq!(add("n.md", "<!-- a\n", "-->"), (true, "<!-- a\n-->\n".to_owned()));
    assert_eq!(add("n.md", "```\na\n", "b\n"), (false, "```\na\n".to_owned()));
    assert_eq!(add("n.md", "a\n", "```\nb"), (true, "a\n```\nb\n".to_owned()));
    assert_eq!(add("n.md", "<div>\r\n</div>\r\n", "- a"), (true, "<div>\r\n</div>\r\n\r\n- a\r\n".to_owned()));
    assert_eq!(add("n.md", "<div>\n", "\n- a"), (true, "<div>\n\n- a\n".to_owned()));
}
