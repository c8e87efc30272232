//! The bars of memdir's speed, each beside its baseline, measured in turns in the same run.
//!
//! `cargo bench --bench bars` runs all of it; words behind `--` choose among `reads`, `updates`, `lists`, `exec`, `hook`, `facts`,
//! `python`, `scan`, `web`, `search`, `mcp`, `mcp-index`, `mcp-hub`, `page` and `sizes`. `docs/benchmarks.md` says what each row means. Parsing has its own bench, `parse`.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench makes its own files and programs, reports to the terminal, and stops where it cannot go on"
)]

#[path = "bars/facts.rs"]
mod facts;
#[path = "bars/fresh.rs"]
mod fresh;
#[path = "bars/hook.rs"]
mod hook;
#[path = "bars/hub.rs"]
mod hub;
#[path = "bars/inside.rs"]
mod inside;
#[path = "bars/mcp.rs"]
mod mcp;
#[path = "bars/measure.rs"]
mod measure;
#[path = "bars/page.rs"]
mod page;
#[path = "bars/process.rs"]
mod process;
#[path = "bars/prose.rs"]
mod prose;
#[path = "bars/scan.rs"]
mod scan;
#[path = "bars/search.rs"]
mod search;
#[path = "bars/vaults.rs"]
mod vaults;
#[path = "bars/web.rs"]
mod web;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let parts: [(&str, fn()); 15] = [
        ("reads", inside::reads),
        ("updates", inside::updates),
        ("exec", process::execs),
        ("hook", hook::hooks),
        ("facts", facts::facts),
        ("python", process::against_python),
        ("lists", inside::lists),
        ("scan", scan::scans),
        ("web", web::webs),
        ("search", search::searches),
        ("mcp", mcp::servers),
        ("mcp-index", mcp::indexed),
        ("mcp-hub", hub::tools_of_others),
        ("page", page::pages),
        ("sizes", process::sizes),
    ];
    println!("cores: {}, load average: {}", std::thread::available_parallelism().map_or(0, usize::from), load());
    for (name, part) in parts {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            part();
        }
    }
    println!("\nload average: {}", load());
}

fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
