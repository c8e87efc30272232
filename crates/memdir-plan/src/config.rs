//! `get_config` and `set_config_value`: what the settings are, and that no model changes one.

use super::Answer;
use memdir_core::action::{GetConfig, SetConfigValue};
use memdir_core::catalog::{nearest, shorten};
use memdir_core::report::{Code, ConfigKey, Failure, Value};

/// The longest value that a command for the person repeats.
const MOST_VALUE: usize = 64;

/// What is told of the settings, or of one, or of a section.
pub(crate) fn told(config: &[ConfigKey], index: usize, asked: &GetConfig) -> Result<Answer, Failure> {
    let is_asked = |key: &str| {
        asked
            .key
            .as_deref()
            .is_none_or(|asked| key.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let found: Vec<&ConfigKey> = config.iter().filter(|known| is_asked(&known.key)).collect();
    if let Some(key) = asked.key.as_ref().filter(|_| found.is_empty()) {
        return Err(unknown(config, index, "get_config", key));
    }
    let told = found.into_iter().filter_map(|ConfigKey { key, value }| Some((key.clone(), value.clone()?)));
    Ok(Value::Config(told.collect()).into())
}

fn unknown(config: &[ConfigKey], index: usize, action: &str, key: &str) -> Failure {
    let message = format!("action {index}, `{action}`: there is no setting `{}`", shorten(key));
    let keys = config.iter().map(|known| known.key.as_str());
    Failure::new(Code::InvalidAction, message).with_hint(match nearest(key, keys) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "get_config without a key tells all that there are".to_owned(),
    })
}

/// The answer to whoever asks for another value: the command that the person can type.
pub(crate) fn refused(config: &[ConfigKey], index: usize, asked: &SetConfigValue) -> Failure {
    if config.iter().all(|known| known.key != asked.key) {
        return unknown(config, index, "set_config_value", &asked.key);
    }
    // The command is typed by the person: nothing that a shell reads in another way stands in it.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | ',');
    let is_typed = (1..=MOST_VALUE).contains(&asked.value.len())
        && !asked.value.starts_with('-')
        && asked.value.chars().all(is_plain);
    let value = if is_typed { asked.value.as_str() } else { "VALUE" };
    Failure::new(Code::Denied, "no model changes a setting; the person can")
        .with_hint(format!("tell the person that this changes it: `memdir config set {} {value}`", asked.key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{refused, told};
    use memdir_core::action::{GetConfig, SetConfigValue};
    use memdir_core::report::{Code, ConfigKey};

    #[test]
    fn what_is_not_to_be_told_is_not_and_the_command_holds_only_plain_values() {
        let config = [("permission.mcp", Some(json!("flag"))), ("model.address", None)]
            .map(|(key, value)| ConfigKey { key: key.to_owned(), value });
        let get = |key: Option<&str>| {
            let asked = GetConfig { key: key.map(str::to_owned) };
            told(&config, 1, &asked)
                .map(|answer| serde_json::to_value(answer.value).unwrap())
                .map_err(|failure| failure.hint)
        };
        for key in [None, Some("permission"), Some("permission.mcp")] {
            assert_eq!(get(key), Ok(json!({"permission.mcp": "flag"})), "{key:?}");
        }
        assert_eq!(get(Some("model")), Ok(json!({})));
        assert_eq!(get(Some("permission.mc")), Err(Some("did you mean `permission.mcp`?".to_owned())));
        let hint = |key: &str, value: &str| {
            let failure = refused(&config, 3, &SetConfigValue { key: key.to_owned(), value: value.to_owned() });
            (failure.code, failure.hint.unwrap())
        };
        let command =
            |typed: &str| (Code::Denied, format!("tell the person that this changes it: `memdir config set {typed}`"));
        assert_eq!(hint("permission.mcp", "off"), command("permission.mcp off"));
        assert_eq!(hint("model.address", "off"), command("model.address off"));
        for value in ["", "a b", "$(rm)", "x;y", "`x`", "'", "--memory", "é", "\u{1b}[2J", &"x".repeat(65)] {
            assert_eq!(hint("permission.mcp", value), command("permission.mcp VALUE"), "{value:?}");
        }
        assert_eq!(hint("permision.mcp", "off"), (Code::InvalidAction, "did you mean `permission.mcp`?".to_owned()));
        assert_eq!(hint("zzz", "off").0, Code::InvalidAction);
    }
}
