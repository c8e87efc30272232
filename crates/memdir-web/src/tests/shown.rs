//! What is decided about is seen as it is, and what was shown is in the audit.

use memdir_core::action::Call;
use memdir_core::catalog;
use memdir_dialect::Parsed;
use memdir_engine::Caller;

use super::*;

/// Characters that turn a line round or take no place, as HTML would send them: none of them may reach a page of a decision.
const UNSEEN: &[char] = &['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{e0041}', '\u{1b}'];

#[tokio::test]
async fn a_proposal_is_shown_with_all_that_it_holds() {
    let env = Env::new(&[("a.md", "# A\n")]).await;
    let text: String = UNSEEN.iter().collect();
    let arguments = serde_json::json!({"path": "a.md", "content": format!("phone: 912 {text}876\n")});
    let append = catalog::decode(1, "append_file", arguments.as_object().cloned().unwrap()).unwrap();
    let caller = Caller { mode: Mode::All, ..Caller::model("mcp").for_client(Some(format!("she{text}lf"))) };
    let engine = env.site.engine();
    drop(engine.conclude(engine.propose(Parsed::of([Call::plain(1, append)]), caller)));
    let id = engine.waiting().unwrap().0[0].id;
    for address in ["/inbox".to_owned(), format!("/inbox/{id}")] {
        let page = env.get(&address).await;
        assert_eq!(page.status, 200, "{address}");
        assert!(!page.body.contains(UNSEEN), "{address}: {}", page.body.escape_debug());
        assert!(
            page.body.contains("912 \\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{e0041}\\u{1b}876"),
            "{address}: {}",
            page.body
        );
    }
}

#[tokio::test]
async fn a_line_that_is_decided_about_is_shown_with_all_that_it_holds() {
    let text: String = UNSEEN.iter().collect();
    let env = Env::new(&[("a.md", &format!("# A\n\n- phone: 912 {text}876\n"))]).await;
    let page = env.get("/line/a.md?line=3").await.body;
    let line = between(&page, "<blockquote id=\"line\">", "</blockquote>");
    let diff = between(&page, "<pre class=\"diff\">", "</pre>");
    for shown in [line, diff] {
        assert!(
            shown.contains("912 \\u{202e}\\u{2066}\\u{200b}") && !shown.contains(UNSEEN),
            "{}",
            shown.escape_debug()
        );
    }
}
