//! The page *Tools*: who may call a server's tools, where they are switched on, how they were approved, and what was called.

use super::Served;
use crate::hub;
use crate::support::standin::{MODEL, Standin};

#[test]
fn a_server_is_shown_with_the_conversations_that_it_is_on_in() {
    let call = r#"<actions>[{"action":"lab__echo","text":"no news"}]</actions>"#;
    let standin = Standin::answers([call, "<reply>None.</reply>", "<reply>Good morning.</reply>"]);
    let settings = format!("[model]\nname = 'openai-compatible::{MODEL}'\naddress = '{}'\n", standin.address());
    let env = hub::env().settings(&settings);
    hub::add(&env, "lab", &[]);
    hub::add(&env, "spare", &[]);
    hub::run(&env, &["allow", "lab__echo"]).exits(0);
    for asked in [&["ask", "--tools", "lab", "Is there <b>news</b>?"][..], &["ask", "A good morning"]] {
        assert_eq!(env.run(asked, "").code, 0);
    }
    let mut served = Served::start(env);
    let visit = served.visit();
    let list = visit.get("/tools").body;
    assert!(list.contains("href=\"/tools/lab\"") && list.contains("href=\"/tools/spare\""), "{list}");
    let (lab, spare) = (visit.get("/tools/lab").body, visit.get("/tools/spare").body);
    assert!(lab.contains(">Is there &lt;b&gt;news&lt;/b&gt;?</a>") && !lab.contains("A good morning"), "{lab}");
    assert!(lab.contains("lab__echo</a>") || lab.contains("lab__echo</code>"), "{lab}");
    assert!(spare.contains("In none of") && !spare.contains("href=\"/conversations/"), "{spare}");
    assert_eq!(visit.get("/tools/nope").status, 404);
}
