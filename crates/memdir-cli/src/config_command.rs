//! `memdir config`: the settings that hold, one of them, and giving one another value.

use clap::Subcommand;
use serde_json::{Value, json};

use super::args::Global;
use super::config::Sources;
use super::open;
use super::output::{Lines, say};
use super::stop::Stop;
use memdir_vault::Options;
use memdir_web::Setting;

/// What can be done with the settings.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// List the settings that hold for the memory, and where each comes from
    List,
    /// Give a setting another value in the settings file
    Set {
        /// The setting, such as permission.mcp
        key: String,
        /// What it should be; in a list, put commas between the items
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

pub(super) fn run(global: &Global, key: Option<&str>, command: Option<&ConfigCommand>) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let folder = open::folder(global, &sources)?;
    let root = folder.root();
    if let Some(ConfigCommand::Set { key, value }) = command {
        if key == "state" {
            folder.place_state(Options::default(), Some(&sources.state_at(value)?))?;
        }
        let overridden = sources.set(root, key, value)?;
        say("note: a running assistant applies this when it next starts memdir")?;
        if let Some(variable) = overridden {
            say(format!("note: {variable} in the environment says otherwise, and holds"))?;
        }
    }
    let shown = Sources::read()?.shown(root)?;
    let name = |setting: &Setting| match setting.section.as_str() {
        "" => setting.key.clone(),
        section => format!("{section}.{}", setting.key),
    };
    let only = match command {
        Some(ConfigCommand::Set { key, .. }) => Some(key.as_str()),
        None | Some(ConfigCommand::List) => key,
    };
    let is_shown = |setting: &&Setting| {
        only.is_none_or(|only| name(setting) == only || setting.section == only && !only.is_empty())
    };
    let settings: Vec<&Setting> = shown.settings.iter().filter(is_shown).collect();
    if let Some(key) = key.filter(|_| settings.is_empty()) {
        return Err(Sources::no_setting(key).into());
    }
    let shape = |setting: &&Setting| json!({"key": name(setting), "value": setting.value, "source": setting.source});
    let listed: Vec<Value> = settings.iter().map(shape).collect();
    global.answer(&json!({ "settings": listed }), |stdout| {
        for setting in &settings {
            let value = setting.value.as_deref().unwrap_or("not set");
            stdout.line(format!("{} = {value}  ({})", name(setting), setting.source))?;
        }
        Ok(())
    })
}
