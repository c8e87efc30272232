//! What is wrong with a page: by its bytes, by what the browser did, and by what axe-core finds.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::browser::Browser;
use super::{Visit, links};
use crate::support::wire::Answer;

/// So many bytes may a page have.
const PAGE_BYTES: usize = 100 * 1024;

/// The pages that links lead to from `seeds`, so many of each kind, with what is wrong about any: its status, size or headers.
pub(super) fn crawl(visit: &Visit, seeds: &[&str], of_each: usize) -> (BTreeMap<String, Answer>, Vec<String>) {
    let (mut pages, mut faults, mut counts) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    let mut ahead: VecDeque<String> = seeds.iter().map(|seed| (*seed).to_owned()).collect();
    while let Some(address) = ahead.pop_front() {
        let count: &mut usize = counts.entry(kind(&address)).or_default();
        if pages.contains_key(&address) || *count >= of_each {
            continue;
        }
        *count += 1;
        let begin = Instant::now();
        let answer = visit.get(&address);
        if begin.elapsed().as_secs() > 2 {
            println!("{address}: {:.1} s", begin.elapsed().as_secs_f64());
        }
        let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        if answer.status != 200 {
            faults.push(format!("{address}: status {}", answer.status));
        }
        if is_page {
            if answer.body.len() > PAGE_BYTES {
                faults.push(format!("{address}: {} bytes", answer.body.len()));
            }
            ahead.extend(links(&answer.body).into_iter().filter(|link| !link.starts_with("/assets/")));
            pages.insert(address, answer);
        }
    }
    (pages, faults)
}

/// What pages have in common: the first word of their path, and which fields they are asked with.
fn kind(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let names: Vec<&str> = query.split('&').filter_map(|pair| pair.split('=').next()).collect();
    format!("{}?{}", path.split('/').nth(1).unwrap_or_default(), names.join("&"))
}

/// What is wrong with the page that is shown, and with what the browser did for it.
pub(super) fn faults(browser: &Browser, origin: &str) -> Vec<String> {
    let looked = browser.run(include_str!("look.js"), json!([]));
    let mut faults: Vec<String> =
        looked.as_array().unwrap().iter().map(|fault| fault.as_str().unwrap().to_owned()).collect();
    for entry in browser.log("browser") {
        if entry["level"] != "INFO" && entry["level"] != "DEBUG" {
            faults.push(format!("console: {}", entry["message"]));
        }
    }
    for url in requests(browser) {
        let is_own = url.strip_prefix(origin).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        // What the browser draws its own fields with; none of these leads to a network.
        let is_browsers = ["data:", "about:", "chrome:"].iter().any(|scheme| url.starts_with(scheme));
        if !is_own && !is_browsers {
            faults.push(format!("asked for {url}"));
        }
    }
    let shown = browser.address();
    faults.into_iter().map(|fault| format!("{shown}: {fault}")).collect()
}

/// Every address that was asked for since the last time.
fn requests(browser: &Browser) -> Vec<String> {
    let events = browser.log("performance");
    let events = events.iter().filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok());
    let sent = events.filter(|event| event["message"]["method"] == "Network.requestWillBeSent");
    sent.filter_map(|event| event["message"]["params"]["request"]["url"].as_str().map(str::to_owned)).collect()
}

/// The source of axe-core, or why it is not there.
pub(super) fn axe() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/axe-core/axe.min.js");
    let source = fs::read_to_string(path).ok();
    if source.is_none() {
        eprintln!("axe-core is not asked: `scripts/browser` fetches it where it can");
    }
    source
}

/// What axe-core calls serious or critical in the page that is shown.
pub(super) fn barriers(browser: &Browser, axe: &str) -> Vec<String> {
    browser.run(axe, json!([]));
    let found = browser.run_async(
        "const done = arguments[0];
         axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations
           .filter(({ impact }) => impact === 'serious' || impact === 'critical')
           .map(({ id, nodes }) => `${id} ×${nodes.length}: ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary}`)),
           (error) => done([String(error)]));",
        json!([]),
    );
    let shown = browser.address();
    found.as_array().unwrap().iter().map(|fault| format!("{shown}: axe: {}", fault.as_str().unwrap())).collect()
}
