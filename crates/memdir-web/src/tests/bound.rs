//! Changes are bound to what was shown: what the notes say by then decides, and what was typed is never lost.

use super::*;
use memdir_engine::Reply;

/// The value of a hidden field on a page.
fn hidden(page: &str, name: &str) -> String {
    let value = between(page, &format!(r#"name="{name}" value=""#), "\"");
    value.replace("&quot;", "\"").replace("&amp;", "&")
}

#[tokio::test]
async fn an_answer_removes_only_the_line_that_was_shown() {
    let facts = "- born: 1990\n- job: nurse\n- pet: cat\n- car: none\n- height: 170 cm\n- eyes: green\n- shoes: 39\n";
    let text = format!("# Ada\n\n- city: London\n{facts}- city: Paris\n");
    let env = Env::new(&[("user.md", &text)]).await;
    let found = env.site.engine().review(Timestamp::from_micros(1_795_000_000_000_000), 9).unwrap();
    let page = env.get("/review").await.body;
    let shown =
        ["path", "line", "text", "other_path", "other_line", "other_text"].map(|name| (name, hidden(&page, name)));
    let mut fields: Vec<(&str, &str)> = shown.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.push(("what", "only"));
    let [.., other_line, other_text] = &shown;
    let unseen = "- city: Braga, written by the editor just now";
    let now = env.note("user.md").replace(&other_text.1, unseen);
    env.write("user.md", &now);
    // Also where a question is answered that was found before.
    for reply in [Reply::Stands, Reply::This, Reply::Other, Reply::Value("Rome")] {
        let refused = env.site.engine().settle(&found[0], reply, &env.site.person()).unwrap_err();
        assert_eq!(refused.code, memdir_core::report::Code::Conflict);
    }
    assert_eq!(env.post("/answer", &fields).await.status, 409);
    assert_eq!(env.note("user.md"), now, "nothing that was not shown is removed");
    env.write("user.md", &now.replace(unseen, &other_text.1));
    env.site.glance.clear();
    assert_eq!(env.post("/answer", &fields).await.status, 303);
    let other: usize = other_line.1.parse().unwrap();
    let kept: String =
        text.split_inclusive('\n').zip(1..).filter(|(_, line)| *line != other).map(|(line, _)| line).collect();
    assert_eq!(env.note("user.md"), kept);
    assert!(page.contains("contradiction") && !env.get("/review").await.body.contains("contradiction"));
}

/// What the page of a line sends to take it out.
async fn line_form(env: &Env, address: &str) -> Vec<(&'static str, String)> {
    let page = env.get(address).await.body;
    let form = page.split_once("<h2 id=\"out\">").unwrap().1;
    let names = ["line", "text", "digest", "around"].into_iter();
    names.filter(|name| form.contains(&format!("name=\"{name}\""))).map(|name| (name, hidden(form, name))).collect()
}

async fn send_line(env: &Env, path: &str, form: &[(&'static str, String)], to: Option<&str>) -> Answer {
    let mut fields: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.extend(to.map(|to| ("to", to)));
    env.post(&format!("/line/{path}"), &fields).await
}

#[tokio::test]
async fn a_corrected_line_that_meets_another_is_neither_lost_nor_put_elsewhere() {
    let env = Env::new(&[("t.md", "- a: 1\n- b: 2\n- c: 3\n")]).await;
    let form = line_form(&env, "/line/t.md?line=3").await;
    let now = "- a: 1\n- b: 2\n- name: Ada\n";
    env.write("t.md", now);
    let answer = send_line(&env, "t.md", &form, Some("- c: typed")).await;
    assert_eq!((answer.status, env.note("t.md").as_str()), (409, now));
    assert!(answer.body.contains("- c: typed") && answer.body.contains("- name: Ada"), "{}", answer.body);
    assert!(!answer.body.contains("action=\"/line/"), "nothing is aimed at another line: {}", answer.body);
    // The note is shorter, and then gone.
    env.write("t.md", "- a: 1\n");
    let answer = send_line(&env, "t.md", &form, Some("- c: typed")).await;
    assert_eq!((answer.status, env.note("t.md").as_str()), (409, "- a: 1\n"));
    assert!(answer.body.contains("- c: typed"));
    std::fs::remove_file(env.folder.path().join("t.md")).unwrap();
    let answer = send_line(&env, "t.md", &form, Some("- c: typed")).await;
    assert_eq!(answer.status, 409);
    assert!(answer.body.contains("- c: typed"));
    // A line that was moved as a whole is still the one that was shown.
    env.write("t.md", "# T\n- a: 1\n- b: 2\n- c: 3\n");
    assert_eq!(send_line(&env, "t.md", &form, Some("- c: typed")).await.status, 303);
    assert_eq!(env.note("t.md"), "# T\n- a: 1\n- b: 2\n- c: typed\n");
}

#[tokio::test]
async fn a_form_that_is_sent_twice_takes_one_line() {
    for text in ["# T\n- milk\n- tea\n- rice\n- tea\n", "x\n- tea\ny\nx\n- tea\ny\n", "- tea\n- tea\n- tea\n- tea\n"] {
        let env = Env::new(&[("t.md", text)]).await;
        let line = text.lines().position(|line| line == "- tea").unwrap() + 1;
        let form = line_form(&env, &format!("/line/t.md?line={line}")).await;
        assert_eq!(send_line(&env, "t.md", &form, None).await.status, 303);
        let once = text.replacen("- tea\n", "", 1);
        assert_eq!(env.note("t.md"), once);
        assert_eq!(send_line(&env, "t.md", &form, None).await.status, 409);
        assert_eq!(env.note("t.md"), once);
    }
}

#[tokio::test]
async fn the_persons_own_change_that_waits_leads_to_where_it_waits() {
    let text = "- a: 1\n- b: 2\n";
    let env = Env::asking(&[("t.md", text)], Mode::All).await;
    let form = line_form(&env, "/line/t.md?line=2").await;
    let answer = send_line(&env, "t.md", &form, Some("- b: typed")).await;
    assert_eq!((answer.status, answer.header(LOCATION)), (303, "/inbox/1"));
    assert_eq!(env.note("t.md"), text);
    let page = env.get("/inbox/1").await.body;
    assert!(page.contains("This waits for your yes") && page.contains("+- b: typed"), "{page}");
    let answer = env.post("/inbox/1", &[("digest", &hidden(&page, "digest")), ("answer", "yes")]).await;
    assert_eq!((answer.status, env.note("t.md").as_str()), (303, "- a: 1\n- b: typed\n"));
}

#[tokio::test]
async fn a_person_is_given_no_hint_for_models() {
    let env = Env::new(&[("a.md", "a\n"), ("b.md", "b\n")]).await;
    let shown = hidden(&env.get("/rename/a.md").await.body, "digest");
    for (address, fields) in [
        ("/new", vec![("path", "a.md"), ("content", "x")]),
        ("/rename/a.md", vec![("to", "b.md"), ("digest", shown.as_str())]),
    ] {
        let page = env.post(address, &fields).await.body;
        let problem = between(&page, "role=\"alert\">", "</div>");
        assert!(!problem.contains("_file"), "no name of an action: {problem}");
        assert!(!problem.contains("if_digest") && !problem.contains("memdir "), "{problem}");
    }
}
