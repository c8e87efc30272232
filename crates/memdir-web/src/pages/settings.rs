//! Settings: what holds, where each comes from, and what to type to change it. Nothing is changed here.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;

use crate::door::Visitor;
use crate::layout::{Page, Section};
use crate::site::Site;
use crate::text;

/// So much of a value is shown.
const LETTERS: usize = 200;

/// One setting that holds.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its section; empty for what stands at the top of the settings file.
    pub section: String,
    /// Its name there.
    pub key: String,
    /// What holds, as the settings file would say it; `None` where nothing does.
    pub value: Option<String>,
    /// Where it comes from: `default`, `settings file`, the name of a variable of the environment, or of a flag.
    pub source: String,
    /// The variable of the environment that would set it.
    pub variable: Option<String>,
}

/// All that holds.
#[derive(Clone, Debug, Default)]
pub struct SettingsShown {
    /// Where the settings file is, or would be.
    pub file: Option<String>,
    /// In the order of the sections.
    pub settings: Vec<Setting>,
    /// The rules, in the order of their numbers from 1.
    pub rules: Vec<String>,
}

pub(crate) async fn show(State(site): State<Arc<Site>>, visitor: Visitor) -> Response {
    site.show(&visitor, |site, _| {
        let shown = site.person_files()?.settings()?;
        let mut sections: Vec<&str> = shown.settings.iter().map(|setting| setting.section.as_str()).collect();
        sections.dedup();
        let main = html! {
            h1 { "Settings" }
            p { "The settings in effect for a command that you start now. Beside each stands where it comes from, and what changes it: a line in the settings file, or a variable of the environment. Nothing is changed here." }
            @if let Some(file) = &shown.file {
                p { "Settings file: " code .path { (file) } " " button .small type="button" data-copy=(file) { "Copy its path" } }
            }
            @for section in sections {
                h2 { @if section.is_empty() { "Above all sections" } @else { "[" (section) "]" } }
                dl .settings {
                    @for setting in shown.settings.iter().filter(|setting| setting.section == section) {
                        div {
                            dt { (setting.key) }
                            dd {
                                @match &setting.value {
                                    Some(value) => { code { (text::shortened(value, LETTERS)) } " " small { (setting.source) } },
                                    None => span .quiet { "not set" },
                                }
                            }
                            dd .quiet {
                                @if !section.is_empty() { code { "[" (section) "] " (setting.key) " = …" } } @else { code { (setting.key) " = …" } }
                                @if let Some(variable) = &setting.variable { " or " code { (variable) } }
                            }
                        }
                    }
                }
            }
            h2 #rules { "Rules" }
            @if shown.rules.is_empty() { p .quiet { "None: the detectors and the permission mode alone decide." } }
            ol { @for rule in &shown.rules { li { code { (rule) } } } }
            p .quiet { code { "memdir rules add" } " adds one, " code { "memdir rules remove NUMBER" } " takes one back. A rule holds at once, also in programs that run." }
        };
        Ok(Page::new("Settings", Section::Settings, main))
    })
    .await
}
