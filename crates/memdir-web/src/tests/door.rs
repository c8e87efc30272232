//! Who is let in, and whose changes are made.

use super::*;

/// The text of the only note, by which it is seen whether anything was changed.
const NOTE: (&str, &str) = ("a.md", "as it was\n");

fn edit(token: &str) -> String {
    let digest = memdir_core::digest::Digest::of(NOTE.1.as_bytes()).to_string();
    let fields = [("token", token), ("digest", &digest), ("part", "1"), ("content", "changed")];
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

#[tokio::test]
async fn only_a_browser_that_was_let_in_sees_anything() {
    let env = Env::new(&[NOTE]).await;
    let cookie = env.cookie.clone();
    let (name, value) = cookie.split_once('=').unwrap();
    let other = format!("{name}={}", "0".repeat(64));
    let shortened = format!("{name}={}", value.get(..63).unwrap());
    let otherwise = format!("memdir-1={value}");
    let refused: &[&[(&str, &str)]] = &[
        &[],
        &[("cookie", "")],
        &[("cookie", &other)],
        &[("cookie", &shortened)],
        &[("cookie", &otherwise)],
        // Stolen, in another browser or under another name.
        &[("cookie", &cookie), ("user-agent", "another browser")],
        &[("cookie", &cookie), ("host", "localhost:8733")],
        // Rebinding.
        &[("cookie", &cookie), ("host", "evil.example")],
        &[("cookie", &cookie), ("host", "evil.example:8733")],
        // From a foreign page.
        &[("cookie", &cookie), ("origin", "https://evil.example")],
        &[("cookie", &cookie), ("origin", "null")],
        &[("cookie", &cookie), ("origin", "null"), ("sec-fetch-site", "cross-site")],
        &[("cookie", &cookie), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
        &[("cookie", &cookie), ("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
        &[
            ("cookie", &cookie),
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ],
    ];
    for headers in refused {
        for address in ["/", "/notes", "/notes/a.md", "/edit/a.md", "/search?q=was", "/events", "/nowhere"] {
            let answer = env.send(request(Method::GET, address, headers, "")).await;
            assert!(matches!(answer.status, 401 | 403), "{address} {headers:?}: {}", answer.status);
            assert!(!answer.body.contains("as it was"), "{address} {headers:?}");
            assert!(answer.body.contains("<h1>"), "a page says why: {address}");
        }
    }
    let let_in: &[&[(&str, &str)]] = &[
        &[("cookie", &cookie)],
        &[("cookie", &format!("x=1; {cookie}; y=2"))],
        &[("cookie", &other), ("cookie", &cookie)],
        &[("cookie", &cookie), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
        &[
            ("cookie", &cookie),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ],
    ];
    for headers in let_in {
        let answer = env.send(request(Method::GET, "/notes/a.md", headers, "")).await;
        assert_eq!(answer.status, 200, "{headers:?}");
        assert!(answer.body.contains("as it was"));
    }
}

#[tokio::test]
async fn a_code_works_once_and_the_newest_alone() {
    let env = Env::new(&[NOTE]).await;
    let enter =
        async |address: &str, headers: &[(&str, &str)]| env.send(request(Method::GET, address, headers, "")).await;
    let (first, second) = (env.site.new_code().unwrap().address(), env.site.new_code().unwrap().address());
    assert_eq!(enter(&first, &[]).await.status, 403, "another took its place");
    assert_eq!(enter("/enter", &[]).await.status, 403);
    assert_eq!(enter("/enter?code=", &[]).await.status, 403);
    assert_eq!(enter(second.get(..second.len() - 1).unwrap(), &[]).await.status, 403);
    assert_eq!(enter(&second, &[("host", "evil.example")]).await.status, 403);
    // What guesses or only looks does not use it up.
    assert_eq!(enter(&second, &[("sec-purpose", "prefetch;prerender")]).await.status, 405);
    assert_eq!(env.send(request(Method::HEAD, &second, &[], "")).await.status, 405);
    let answer = enter(&second, &[]).await;
    assert_eq!(answer.status, 303);
    // Both browsers are in, and each has a token of its own.
    let cookie = answer.header(SET_COOKIE).split(';').next().unwrap();
    assert_eq!(enter(&second, &[("cookie", cookie)]).await.header(LOCATION), "/", "who came in by it goes on");
    assert_ne!(cookie, env.cookie);
    let page = env.send(request(Method::GET, "/new", &[("cookie", cookie)], "")).await;
    assert_ne!(between(&page.body, r#"name="token" value=""#, "\""), env.token);
    assert_eq!(env.get("/").await.status, 200);
}

#[tokio::test]
async fn an_address_that_is_opened_twice_puts_out_who_came_in_by_it() {
    let env = Env::new(&[NOTE]).await;
    let (tell, told) = std::sync::mpsc::channel();
    env.site.tell_of_door(move |event| tell.send(event).unwrap());
    let address = env.site.new_code().unwrap().address();
    let get =
        async |address: &str, headers: &[(&str, &str)]| env.send(request(Method::GET, address, headers, "")).await;
    let thief = [("user-agent", "a thief")];
    let cookie = get(&address, &thief).await.header(SET_COOKIE).split(';').next().unwrap().to_owned();
    let thief = [thief[0], ("cookie", cookie.as_str())];
    assert_eq!(get("/notes/a.md", &thief).await.status, 200);
    assert_eq!(get(&address, &[]).await.status, 403, "the person comes second");
    assert_eq!(get("/notes/a.md", &thief).await.status, 401);
    assert_eq!(env.get("/notes/a.md").await.status, 200, "nobody else is put out");
    let name = "a thief".to_owned();
    let expected = [crate::DoorEvent::LetIn(name.clone()), crate::DoorEvent::PutOut(name)];
    assert_eq!(told.try_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_change_needs_a_page_of_ours_and_its_token() {
    let env = Env::new(&[NOTE]).await;
    let (cookie, form) = (env.cookie.clone(), edit(&env.token));
    let own = ("sec-fetch-site", "same-origin");
    let send = async |headers: &[(&str, &str)], form: &str| {
        let answer = env.send(request(Method::POST, "/edit/a.md", headers, form)).await;
        (answer.status, env.note("a.md") == NOTE.1)
    };
    let refused: &[&[(&str, &str)]] = &[
        &[own],
        &[("cookie", &cookie)],
        &[("cookie", &cookie), ("sec-fetch-site", "cross-site")],
        &[("cookie", &cookie), ("sec-fetch-site", "same-site")],
        &[("cookie", &cookie), ("sec-fetch-site", "none")],
        &[("cookie", &cookie), own, own],
        &[("cookie", &cookie), ("origin", "http://127.0.0.1:9999")],
        &[("cookie", &cookie), ("origin", "https://127.0.0.1:8733")],
        &[("cookie", &cookie), ("origin", "null")],
        &[("cookie", &cookie), own, ("origin", "https://evil.example")],
        &[("cookie", &cookie), own, ("host", "evil.example")],
        &[("cookie", &cookie), own, ("user-agent", "another browser")],
    ];
    for headers in refused {
        let (status, is_same) = send(headers, &form).await;
        assert!(matches!(status, 401 | 403) && is_same, "{headers:?}: {status}");
    }
    let good: &[(&str, &str)] = &[("cookie", &cookie), own];
    let mut other = Env::new(&[NOTE]).await;
    other.enter().await;
    let no_token = form.replace("token=", "tokens=");
    for form in [edit(""), edit(&other.token), edit(env.token.get(..63).unwrap()), no_token, String::new()] {
        assert_eq!(send(good, &form).await, (403, true), "{form}");
    }
    for kind in ["text/plain", "application/json", "multipart/form-data; boundary=x", ""] {
        let headers = [good[0], good[1], ("content-type", kind)];
        assert_eq!(send(&headers, &form).await, (415, true), "{kind}");
    }
    assert_eq!(send(good, &format!("{form}&x={}", "x".repeat(8 << 20))).await, (413, true));
    for method in [Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
        let answer = env.send(request(method.clone(), "/edit/a.md", good, &form)).await;
        assert_eq!(answer.status, 405, "{method}");
    }
    // Nothing that is only read changes anything, and what changes is no address to read.
    let read = env.get(&format!("/undo?{form}")).await;
    assert_eq!(read.status, 405);
    assert_eq!(env.note("a.md"), NOTE.1);
    // The token can come in a header, and an old browser says whose page it is by the origin.
    let by_header = [good[0], ("origin", "http://127.0.0.1:8733"), ("memdir-token", env.token.as_str())];
    assert_eq!(send(&by_header, &form.replace("token=", "tokens=")).await, (303, false));
}

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_it_apart() {
    let env = Env::new(&[NOTE]).await;
    let style = between(&env.get("/").await.body, r#"rel="stylesheet" href=""#, "\"").to_owned();
    for (address, status) in [("/", 200), ("/notes/a.md", 200), ("/notes/b.md", 404), ("/nowhere", 404), (&style, 200)]
    {
        let answer = env.get(address).await;
        assert_eq!(answer.status, status, "{address}");
        let policy = answer.header("content-security-policy");
        for part in
            ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]
        {
            assert!(policy.contains(part), "{address}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        let is_asset = address == style;
        assert_eq!(answer.header("cache-control") == "no-store", !is_asset, "{address}");
    }
}

#[tokio::test]
async fn no_path_leads_out_or_into_the_state() {
    let env = Env::new(&[NOTE]).await;
    for path in [
        "../a.md",
        "%2e%2e/a.md",
        "..%2Fa.md",
        "%2Fetc/passwd",
        ".memdir",
        ".memdir/lock",
        "a%00.md",
        "x/../a.md",
        "a%0a.md",
    ] {
        for page in ["notes", "edit", "rename", "delete"] {
            let answer = env.get(&format!("/{page}/{path}")).await;
            assert!(answer.status >= 400, "/{page}/{path}: {}", answer.status);
        }
    }
    assert_eq!(env.get("/notes/%ff.md").await.status, 400);
}

#[tokio::test]
async fn the_browsers_that_are_in_are_listed_and_each_can_be_put_out() {
    let (mut env, _) = decisions::env(&[("a.md", "x")]).await;
    let first = env.cookie.clone();
    env.enter().await;
    assert_eq!(env.cookie.split('=').next(), Some("memdir-8733"), "the cookie is that of this port");
    let page = env.get("/clients").await.body;
    let list = between(&page, "id=\"browsers\"", "</ul>");
    assert_eq!((list.matches("a browser, let in").count(), list.matches("this one").count()), (2, 1), "{list}");
    assert!(!list.contains(first.split('=').nth(1).unwrap()), "a cookie stands on a page");
    let numbers: Vec<&str> =
        list.split("name=\"browser\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(numbers, ["1", "2"]);
    let old = |env: &Env| request(Method::GET, "/notes", &[("cookie", &first)], &env.token);
    assert_eq!(env.send(old(&env)).await.status, 200);
    assert_eq!(env.post("/browsers/end", &[("browser", "7")]).await.status, 404);
    let ended = env.post("/browsers/end", &[("browser", "1")]).await;
    assert_eq!((ended.status, ended.header(LOCATION)), (303, "/clients"));
    assert_eq!((env.send(old(&env)).await.status, env.get("/notes").await.status), (401, 200));
    assert_eq!(env.post("/browsers/end", &[("browser", "2")]).await.status, 303);
    assert_eq!(env.get("/clients").await.status, 401, "also this one");
}
