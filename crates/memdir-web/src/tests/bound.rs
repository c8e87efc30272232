//! Changes are bound to what was shown: what the notes say by then decides, and what was typed is never lost.

use super::*;

/// The value of a hidden field on a page.
fn hidden(page: &str, name: &str) -> String {
    let value = between(page, &format!(r#"name="{name}" value=""#), "\"");
    value.replace("&quot;", "\"").replace("&amp;", "&")
}

#[tokio::test]
async fn an_answer_removes_only_the_line_that_was_shown() {
    let env = Env::new(&[("people/ada.md", "# Ada\n- city: Paris\n"), ("people/x.md", "- ada: see [[ada]]\n")]).await;
    env.write("people/ada.md", "# Ada\n- city: Paris\n- city: London\n");
    let page = env.get("/review").await.body;
    let shown =
        ["path", "line", "text", "other_path", "other_line", "other_text"].map(|name| (name, hidden(&page, name)));
    let mut fields: Vec<(&str, &str)> = shown.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.push(("what", "only"));
    let [.., other_line, other_text] = &shown;
    let unseen = "- city: Braga, written by the editor just now";
    let now = env.note("people/ada.md").replace(&other_text.1, unseen);
    env.write("people/ada.md", &now);
    // Both where the questions are kept and where they are found anew.
    assert!(matches!(env.post("/answer", &fields).await.status, 404 | 409));
    env.site.glance.clear();
    assert_eq!(env.post("/answer", &fields).await.status, 409);
    assert_eq!(env.note("people/ada.md"), now, "nothing that was not shown is removed");
    env.write("people/ada.md", &now.replace(unseen, &other_text.1));
    env.site.glance.clear();
    assert_eq!(env.post("/answer", &fields).await.status, 303);
    let mut lines = vec!["# Ada", "- city: Paris", "- city: London"];
    lines.remove(other_line.1.parse::<usize>().unwrap() - 1);
    assert_eq!(env.note("people/ada.md"), lines.join("\n") + "\n");
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
