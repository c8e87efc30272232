//! Changes from the page: made once, never over an edit that was not seen.

use super::*;

/// The digest in the form on a page.
fn digest(page: &Answer) -> String {
    between(&page.body, r#"name="digest" value=""#, "\"").to_owned()
}

async fn save(env: &Env, path: &str, digest: &str, part: &str, content: &str) -> Answer {
    env.post(&format!("/edit/{path}"), &[("digest", digest), ("part", part), ("content", content)]).await
}

#[tokio::test]
async fn an_edit_changes_what_was_edited_and_can_be_undone() {
    let before = "---\r\ntags: [x]\r\n---\r\n# Ada\n- city: London\r\n- <b>&amp;\"'\n\n\tlast, no end";
    let env = Env::new(&[("people/ada.md", before)]).await;
    let page = env.get("/edit/people/ada.md").await;
    // The field holds the text, behind the one line end that HTML drops.
    let field = between(&page.body, "spellcheck=\"true\">\n", "</textarea>");
    let field = field.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    assert_eq!(field, before);
    let sent = before.replace("\r\n", "\n").replace('\n', "\r\n").replace("London", "Lisbon");
    let answer = save(&env, "people/ada.md", &digest(&page), "1", &sent).await;
    assert_eq!((answer.status, answer.header(LOCATION)), (303, "/notes/people/ada.md"));
    assert_eq!(env.note("people/ada.md"), before.replace("London", "Lisbon"), "every other byte stays");
    let shown = env.get("/notes/people/ada.md").await;
    assert!(shown.body.contains("Lisbon") && shown.body.contains(r#"id="notice""#), "{}", shown.body);
    assert!(!shown.body.contains("memdir undo"), "there is a button for it");
    let batch = between(&shown.body, r#"name="batch" value=""#, "\"").to_owned();
    assert!(!env.get("/notes/people/ada.md").await.body.contains(r#"id="notice""#), "it is said once");
    let undone = env.post("/undo", &[("batch", &batch), ("back", "/notes/people/ada.md")]).await;
    assert_eq!((undone.status, undone.header(LOCATION)), (303, "/notes/people/ada.md"));
    assert_eq!(env.note("people/ada.md"), before);
    for back in ["//evil.example", "https://evil.example", "/\\evil.example"] {
        let again = env.post("/undo", &[("batch", &batch), ("back", back)]).await;
        assert_eq!(again.status, 409, "it is undone already");
        assert!(!again.headers.contains_key(LOCATION));
    }
}

#[tokio::test]
async fn an_edit_that_meets_another_loses_neither() {
    let env = Env::new(&[("a.md", "one\ntwo\n")]).await;
    let page = env.get("/edit/a.md").await;
    env.write("a.md", "one\ntwo, by an editor\n");
    let answer = save(&env, "a.md", &digest(&page), "1", "one\ntwo, by the page\n").await;
    assert_eq!(answer.status, 409);
    assert_eq!(env.note("a.md"), "one\ntwo, by an editor\n");
    for text in ["two, by the page", "two, by an editor"] {
        assert!(answer.body.matches(text).count() >= 2, "in its text and in the difference: {text}");
    }
    // Whoever has seen both may decide.
    let again = save(&env, "a.md", &digest(&answer), "1", "one\ntwo, by both\n").await;
    assert_eq!(again.status, 303);
    assert_eq!(env.note("a.md"), "one\ntwo, by both\n");
    std::fs::remove_file(env.folder.path().join("a.md")).unwrap();
    let page = env.get("/edit/a.md").await;
    assert_eq!(page.status, 404);
    let gone = save(&env, "a.md", &digest(&answer), "1", "kept\n").await;
    assert_eq!(gone.status, 409);
    assert!(gone.body.contains("kept"));
    // It can be made again, unless somebody else has done so.
    assert_eq!(digest(&gone), "");
    env.write("a.md", "by an editor\n");
    let met = save(&env, "a.md", "", "1", "kept\r\n").await;
    assert_eq!((met.status, env.note("a.md").as_str()), (409, "by an editor\n"));
    assert!(met.body.contains("kept") && met.body.contains("by an editor"), "{}", met.body);
    std::fs::remove_file(env.folder.path().join("a.md")).unwrap();
    assert_eq!(save(&env, "a.md", &digest(&gone), "1", "kept\r\n").await.status, 303);
    assert_eq!(env.note("a.md"), "kept\n");
    // What is no text is no empty note.
    let page = env.get("/edit/a.md").await;
    std::fs::write(env.folder.path().join("a.md"), b"\xff\xfe").unwrap();
    for shown in [digest(&page), String::new()] {
        let refused = save(&env, "a.md", &shown, "1", "typed\n").await;
        assert!(refused.status >= 400 && refused.body.contains("typed"), "{}", refused.body);
        assert_eq!(std::fs::read(env.folder.path().join("a.md")).unwrap(), b"\xff\xfe");
    }
}

#[tokio::test]
async fn a_long_note_is_edited_part_by_part() {
    let text: String = (0..20_000).map(|line| format!("line {line} \"x\"\n")).collect();
    let env = Env::new(&[("long.md", &text)]).await;
    let mut joined = String::new();
    for part in 1.. {
        let page = env.get(&format!("/edit/long.md?part={part}")).await;
        assert!(page.body.len() <= 100_000, "{}", page.body.len());
        joined.push_str(&between(&page.body, "spellcheck=\"true\">\n", "</textarea>").replace("&quot;", "\""));
        if joined.len() >= text.len() || part > 100 {
            break;
        }
    }
    assert_eq!(joined, text);
    let page = env.get("/edit/long.md?part=2").await;
    let content = between(&page.body, "spellcheck=\"true\">\n", "</textarea>").replace("&quot;", "\"");
    let answer =
        save(&env, "long.md", &digest(&page), "2", &content.replace('\n', "\r\n").replacen("line", "LINE", 1)).await;
    assert_eq!(answer.status, 303);
    let start = text.find(&content).unwrap();
    let mut expected = text.clone();
    expected.replace_range(start..start + 4, "LINE");
    assert!(env.note("long.md") == expected);
}

#[tokio::test]
async fn a_note_is_made_renamed_and_deleted() {
    let env = Env::new(&[("b.md", "see [[a]]\n")]).await;
    let made = env.post("/new", &[("path", "a"), ("content", "# A\r\n\r\ntext\r\n")]).await;
    assert_eq!((made.status, made.header(LOCATION)), (303, "/notes/a.md"));
    assert_eq!(env.note("a.md"), "# A\n\ntext\n");
    let again = env.post("/new", &[("path", "a"), ("content", "other words")]).await;
    assert_eq!(again.status, 409);
    assert!(again.body.contains("other words"), "nothing that was typed is lost");
    let shown = digest(&env.get("/rename/a.md").await);
    let moved = env.post("/rename/a.md", &[("to", "c/d.md"), ("digest", &shown)]).await;
    assert_eq!((moved.status, moved.header(LOCATION)), (303, "/notes/c/d.md"));
    assert_eq!(env.note("b.md"), "see [[d]]\n");
    let shown = digest(&env.get("/rename/b.md").await);
    let refused = env.post("/rename/b.md", &[("to", "c/d.md"), ("digest", &shown)]).await;
    assert_eq!(refused.status, 409);
    env.write("b.md", "another note\n");
    let refused = env.post("/rename/b.md", &[("to", "e.md"), ("digest", &shown)]).await;
    assert_eq!((refused.status, env.note("b.md").as_str()), (409, "another note\n"));
    env.write("b.md", "see [[d]]\n");
    let asked = env.get("/delete/c/d.md").await;
    assert!(asked.body.contains("1 link"), "{}", asked.body);
    env.write("c/d.md", "changed");
    let shown = digest(&asked);
    assert_eq!(env.post("/delete/c/d.md", &[("digest", &shown)]).await.status, 409);
    assert_eq!(env.note("c/d.md"), "changed");
    let shown = digest(&env.get("/delete/c/d.md").await);
    assert_eq!(env.post("/delete/c/d.md", &[("digest", &shown)]).await.status, 303);
    assert!(!env.folder.path().join("c/d.md").exists());
}
