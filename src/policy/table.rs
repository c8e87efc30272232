//! The rows of the detectors of secrets and active content; those about personal facts are data, which [`personal`] reads. Rows are
//! no logic: tests hold each to its own examples.
//!
//! The prefixes of keys are those that their issuers publish; the examples are made up, and written in two halves where a
//! program that looks for secrets would stop at them. A row looks in the text as it is written or in lower case, so no
//! pattern needs to ignore case. Patterns name ASCII classes: tables of Unicode would cost more than all else.

use std::sync::OnceLock;

use super::Verdict;
use super::check;
use super::detect::Found;
use super::personal;

/// One pattern of a detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The name in a rule; rows of one name are one detector.
    pub(super) name: &'static str,
    /// What follows from a finding.
    pub(super) class: Class,
    /// What is found, for a sentence.
    pub(super) words: &'static str,
    /// What a text has without which the pattern could not match.
    pub(super) needs: Needs,
    /// Where the pattern looks.
    pub(super) case: Case,
    /// The pattern.
    pub(super) pattern: &'static str,
    /// What the pattern cannot say.
    pub(super) check: Option<fn(&Found<'_>) -> bool>,
    /// Texts in which the row finds something.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the tests, and stand beside what they show"))]
    pub(super) must_match: &'static [&'static str],
    /// Texts in which it does not.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the tests, and stand beside what they show"))]
    pub(super) must_not: &'static [&'static str],
}

/// What kind of thing a detector finds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    /// It opens doors.
    Secret,
    /// It says something about a person that the person may not want kept.
    Personal,
    /// It would run or reach out once the note is opened in a viewer.
    ActiveContent,
}

/// What a text has to have before a pattern is worth compiling.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needs {
    /// One of these, in lower case.
    OneOf(&'static [&'static str]),
    /// So many digits with no more than three blanks or dividers between any two.
    Digits(usize),
    /// Two capital letters and two digits beside them, as codes of countries and offices have.
    Code,
    /// Two letters of any case at the start of a word, and two digits right behind them.
    Account,
    /// A point before four digits.
    Decimals,
}

/// How the text is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Case {
    /// As it is written.
    Exact,
    /// In lower case.
    Folded,
    /// In lower case, and with `_` as a blank: `Home_Address` is a label of two words.
    Words,
}

impl Class {
    pub(super) const ALL: &[Self] = &[Self::Secret, Self::Personal, Self::ActiveContent];

    /// The name in a rule and of an issue.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Personal => "personal",
            Self::ActiveContent => "active_content",
        }
    }

    /// How a sentence calls it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Secret => "a secret",
            Self::Personal => "personal",
            Self::ActiveContent => "active content",
        }
    }

    /// What a finding means where no rule says otherwise.
    pub(super) fn verdict(self) -> Verdict {
        match self {
            Self::Secret => Verdict::Deny,
            Self::Personal | Self::ActiveContent => Verdict::Ask,
        }
    }
}

impl Row {
    /// Whether what it finds is code that runs where it is shown as code.
    pub(super) fn runs_as_code(&self) -> bool {
        matches!(self.name, "script_block" | "inline_script")
    }
}

/// A label, and its value right behind it, but for a remark in brackets or whose it is.
macro_rules! strictly_labelled {
    ($label:literal, $other:literal, $value:literal) => {
        concat!(
            r"(?:(?:(?-u:\b)|_)(?:",
            $label,
            ")|",
            $other,
            r#")(?: ?\([^)\r\n]*\)| (?:for|für|pour|para|per|of|del?|du|vom|von|do|da) [a-z0-9 ._-]{1,20})?["'`*_]*(?:[ \t]*[:=：|]|"#,
            r#" (?:is|was|ist|lautet|est|es|è|é)[ \t])["'`*_ \t]*"#,
            $value
        )
    };
}

/// What stands in a tag before the attribute that counts; a value in quotes may hold the sign that ends a tag elsewhere.
macro_rules! tag {
    ($names:literal, $rest:literal) => {
        concat!("<(?:", $names, r#")(?:[ \t\r\n/](?:[^<>"']|"[^"]*"|'[^']*')*?|[ \t\r\n/][^<>]*?|["'][^<>]*?)"#, $rest)
    };
}

/// An address elsewhere, as lenient as viewers are: slashes may be few or face the wrong way, letters may be encoded.
macro_rules! elsewhere {
    ($before:expr) => {
        concat!($before, r"(?:https?:|[/\\]{2}|\\/\\?/|[htps]{0,5}&(?:#|colon;|sol;))")
    };
}

/// All rows, in the order in which findings are told.
pub(super) fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| SECRETS.iter().copied().chain(personal::rows()).chain(ACTIVE.iter().copied()).collect())
}

/// The rows about secrets.
const SECRETS: &[Row] = &[
    Row {
        name: "private_key",
        class: Class::Secret,
        words: "a private key",
        needs: Needs::OneOf(&["private key", "age-secret-key-1"]),
        case: Case::Exact,
        pattern: "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|AGE-SECRET-KEY-1[A-Z0-9]{20}",
        check: None,
        must_match: &[
            concat!("-----BEGIN PRIVATE", " KEY-----\nMIIfakefake\n"),
            concat!("x\n-----BEGIN RSA PRIVATE", " KEY-----"),
            concat!("-----BEGIN OPENSSH PRIVATE", " KEY-----"),
            concat!("-----BEGIN PGP PRIVATE", " KEY BLOCK-----"),
            concat!("AGE-SECRET", "-KEY-1FAKEFAKEFAKEFAKEFAKEFAKE"),
        ],
        must_not: &["-----BEGIN PUBLIC KEY-----", "the private key is in the safe", "BEGIN CERTIFICATE"],
    },
    Row {
        name: "aws_key",
        class: Class::Secret,
        words: "an AWS access key",
        needs: Needs::OneOf(&["akia", "asia"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)",
        check: Some(check::digit),
        must_match: &[concat!("- key: AKIA", "FAKEFAKEFAKEFAK7"), concat!("ASIA", "2222FAKE3333FAKE")],
        must_not: &["trips: ASIA and EUROPE", "AKIASHORT", "ASIANDEVELOPMENTBANK", "akiafakefakefakefake"],
    },
    Row {
        name: "aws_key",
        class: Class::Secret,
        words: "an AWS secret key",
        needs: Needs::OneOf(&["secret_access_key", "secretaccesskey", "secret access key", "aws secret", "aws_secret"]),
        case: Case::Folded,
        pattern: r#"(?:secret[_ ]?access[_ ]?key|aws[_ ]secret(?:[_ ]key)?)["'`*_]*[ \t]*[:=]["'`*_ \t]*[a-z0-9/+]{40}"#,
        check: None,
        must_match: &[
            concat!("aws_secret_access_key = wJalr", "FAKEfakeFAKEfakeFAKEfakeFAKEfake/+78"),
            concat!("\"SecretAccessKey\": \"fake", "fakefakefakefakefakefakefakefakefake1234\""),
        ],
        must_not: &["aws_secret_access_key = see the vault", "AWS secret access key: rotate it each month"],
    },
    Row {
        name: "github_token",
        class: Class::Secret,
        words: "a GitHub token",
        needs: Needs::OneOf(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{30})",
        check: None,
        must_match: &[
            concat!("token: ghp", "_FakeFakeFakeFakeFakeFakeFakeFake1234"),
            concat!("gho", "_FakeFakeFakeFakeFakeFakeFakeFake1234"),
            concat!("github", "_pat_11FAKE0000fakefake0000_fakefakefakefakefakefake"),
        ],
        must_not: &["ghp_ is how GitHub tokens start", "the github_pat_ prefix", "weghp_x"],
    },
    Row {
        name: "gitlab_token",
        class: Class::Secret,
        words: "a GitLab token",
        needs: Needs::OneOf(&["glpat-"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)glpat-[A-Za-z0-9_-]{20}",
        check: None,
        must_match: &[concat!("glpat", "-FakeFakeFakeFake1234")],
        must_not: &["glpat-short"],
    },
    Row {
        name: "slack_token",
        class: Class::Secret,
        words: "a Slack token",
        needs: Needs::OneOf(&["xox", "xapp-", "hooks.slack.com/services/"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)(?:xox[abcdeoprs]-[A-Za-z0-9-]{10}|xapp-[0-9]-[A-Za-z0-9-]{10}|hooks\.slack\.com/services/T[A-Za-z0-9]+/B)",
        check: None,
        must_match: &[
            concat!("xoxb", "-000000000000-fakefakefake"),
            concat!("xoxp", "-0000-0000-fake"),
            concat!("https://hooks.slack.com", "/services/T0000FAKE/B0000FAKE/fakefake"),
        ],
        must_not: &["xoxo-love", "hugs, xox", "https://slack.com/services"],
    },
    Row {
        name: "stripe_key",
        class: Class::Secret,
        words: "a Stripe key",
        needs: Needs::OneOf(&["sk_live_", "rk_live_", "sk_test_", "whsec_"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)(?:[sr]k_live_|sk_test_|whsec_)[A-Za-z0-9]{10}",
        check: None,
        must_match: &[concat!("sk", "_live_FakeFakeFakeFake1234"), concat!("rk", "_live_FakeFakeFakeFake1234")],
        must_not: &["sk_live_ keys are secret", "desk_live_recordings1"],
    },
    Row {
        name: "anthropic_key",
        class: Class::Secret,
        words: "an Anthropic key",
        needs: Needs::OneOf(&["sk-ant-"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{20}",
        check: None,
        must_match: &[concat!("sk", "-ant-api03-FakeFakeFakeFake-Fake_Fake1234")],
        must_not: &["sk-ant-short"],
    },
    Row {
        name: "openai_key",
        class: Class::Secret,
        words: "an OpenAI key",
        needs: Needs::OneOf(&["sk-"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)sk-[A-Za-z0-9_-]{20,}",
        check: Some(check::random),
        must_match: &[
            concat!("sk", "-FakeFakeFakeFakeFakeFake1234"),
            concat!("sk", "-proj-Fake_Fake-FakeFakeFake1234"),
        ],
        must_not: &[
            "task-management-system-for-2024-Q1",
            "sk-circle-fade-dot-before-12",
            "sk-estonia-to-slovakia-train",
        ],
    },
    Row {
        name: "google_key",
        class: Class::Secret,
        words: "a Google key",
        needs: Needs::OneOf(&["aiza", "gocspx-", "ya29."]),
        case: Case::Exact,
        pattern: r"(?-u:\b)(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20}|ya29\.[A-Za-z0-9_-]{20})",
        check: None,
        must_match: &[
            concat!("AIza", "FakeFakeFakeFakeFakeFakeFakeFake123"),
            concat!("GOCSPX", "-FakeFakeFakeFakeFake12"),
        ],
        must_not: &["Maiza and wheat", "AIzatoo short"],
    },
    Row {
        name: "access_token",
        class: Class::Secret,
        words: "an access token",
        needs: Needs::OneOf(&[
            "npm_",
            "pypi-",
            "hf_",
            "gsk_",
            "xai-",
            "pplx-",
            "r8_",
            "dop_v1_",
            "shpat_",
            "sg.",
            "dckr_pat_",
            "lin_api_",
            "ntn_",
            "hvs.",
            "pul-",
            "pmak-",
            "nrak-",
            "sntrys_",
            "sntryu_",
            "rubygems_",
            "dapi",
            "dp.pt.",
            "figd_",
            "pscale_",
            "hrku-",
            "sbp_",
            "tskey-",
            "nvapi-",
            "xkeysib-",
            "glsa_",
            "sq0",
            "shpca_",
            "shppa_",
            "shpss_",
            "doo_v1_",
            "dor_v1_",
            "atatt3",
            "lin_oauth_",
            "sgp_",
            "tvly-",
        ]),
        case: Case::Exact,
        pattern: concat!(
            r"(?-u:\b)(?:npm_[A-Za-z0-9]{30}|pypi-[A-Za-z0-9_-]{40}|hf_[A-Za-z0-9]{30}|gsk_[A-Za-z0-9]{30}|xai-[A-Za-z0-9]{40}",
            r"|pplx-[A-Za-z0-9]{30}|r8_[A-Za-z0-9]{30}|dop_v1_[a-f0-9]{40}|shpat_[a-fA-F0-9]{30}|dckr_pat_[A-Za-z0-9_-]{20}",
            r"|lin_api_[A-Za-z0-9]{30}|ntn_[A-Za-z0-9]{30}|SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{20}",
            r"|(?:hvs\.|pul-|PMAK-|NRAK-|sntry[su]_|rubygems_|dapi|dp\.pt\.|figd_|pscale_(?:pw|tkn|oauth)_|HRKU-|sbp_|tskey-|nvapi-",
            r"|xkeysib-|glsa_|sq0(?:atp|csp)-|shp(?:ca|pa|ss)_|do[or]_v1_|ATATT3|lin_oauth_|sgp_|tvly-)[A-Za-z0-9_=-]{20,})",
        ),
        check: None,
        must_match: &[
            concat!("npm", "_FakeFakeFakeFakeFakeFakeFakeFake1234"),
            concat!("pypi", "-AgEIFakeFakeFakeFakeFakeFakeFakeFakeFakeFakeFakeFakeFake"),
            concat!("hf", "_FakeFakeFakeFakeFakeFakeFakeFakeFa"),
            concat!("hvs", ".FakeFakeFakeFakeFakeFake12"),
            concat!("figd", "_FakeFakeFakeFakeFakeFake12"),
            concat!("SG", ".FakeFakeFakeFakeFake12.FakeFakeFakeFakeFakeFakeFakeFakeFakeFakeFake123"),
        ],
        must_not: &[
            "npm_config_registry",
            "pypi-publish action",
            "half_life",
            "hf_hub download",
            "npm_lifecycle_event",
        ],
    },
    Row {
        name: "telegram_token",
        class: Class::Secret,
        words: "a Telegram bot token",
        needs: Needs::OneOf(&[":aa"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{30}",
        check: None,
        must_match: &[concat!("123456789", ":AAFakeFakeFakeFakeFakeFakeFakeFake123")],
        must_not: &["2001:AA10::1", "12345678:AAshort"],
    },
    Row {
        name: "jwt",
        class: Class::Secret,
        words: "a signed token",
        needs: Needs::OneOf(&["eyj"]),
        case: Case::Exact,
        pattern: r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{5}",
        check: None,
        must_match: &[concat!("Bearer eyJhbGciOiJIUzI1NiJ9", ".eyJmYWtlIjoiZmFrZSJ9.fakefakefake")],
        must_not: &["eyJhbGciOiJIUzI1NiJ9 is a header", "beyJing"],
    },
    Row {
        name: "api_key",
        class: Class::Secret,
        words: "a key of a service",
        needs: Needs::OneOf(&["key", "token", "secret", "bearer "]),
        case: Case::Folded,
        pattern: concat!(
            r#"(?:(?:api|secret|private|encryption|license|licence)[_ -]?key|(?:access|auth|api|bearer|refresh|bot)[_ -]?token"#,
            r#"|client[_ -]?secret|authorization)["'`*_]*[ \t]*[:=|]["'`*_ \t]*(?:bearer |basic )?[a-z0-9_/+.=-]{16,}"#,
        ),
        check: Some(check::key),
        must_match: &[
            concat!("- API key: fake9f8e", "7d6c5b4a3f2e1d0c"),
            concat!("client_secret = \"fake", "1234fake5678fake\""),
            concat!("Authorization: Bearer fake", "1234fake5678fake"),
        ],
        must_not: &[
            "- api key: in the password manager",
            "access token: https://example.com/settings/tokens2024",
            "secret key: under-the-doormat",
            "- key: 0123456789abcdef0123",
        ],
    },
    Row {
        name: "connection_string",
        class: Class::Secret,
        words: "a connection string with a password",
        needs: Needs::OneOf(&["://"]),
        case: Case::Folded,
        pattern: r"[a-z][a-z0-9+.-]*://[!-.0-9;-?a-~]*:[!-.0-9;-?\[-~]+@",
        check: Some(check::connection),
        must_match: &[
            concat!("postgres://ada:fake", "pw1@localhost/db"),
            concat!("https://ada:fake", "-pass@example.com/repo.git"),
            concat!("redis://:fake", "fake@cache:6379"),
        ],
        must_not: &[
            "postgres://ada@localhost/db",
            "https://example.com:8080/@ada",
            "postgres://user:<password>@host/db",
            "postgres://user:****@host/db",
            "postgres://${USER}:${PASSWORD}@host",
        ],
    },
    Row {
        name: "password",
        class: Class::Secret,
        words: "a password",
        needs: Needs::OneOf(&[
            "passw",
            "passphrase",
            "passcode",
            "pass code",
            "kennwort",
            "mot de passe",
            "mdp",
            "contrase",
            "senha",
            "palavra-passe",
            "parola d'ordine",
            "parola chiave",
            "pwd",
            "pw",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
            "wachtwoord",
            "hasło",
        ]),
        case: Case::Folded,
        pattern: strictly_labelled!(
            "passphrase|pass ?code|mot de passe|mdp|contrase[ñn]a|senha|palavra-passe|parola d'ordine|parola chiave|pwd?|wachtwoord|hasło",
            "passw(?:or[dt]|d)|(?:passwort|kennwort)|пароль|密[码碼]|パスワード|비밀번호",
            r"[^ \t\r\n|]{4,}"
        ),
        check: Some(check::password),
        must_match: &[
            concat!("password: hun", "ter2"),
            concat!("- **Password**: `hun", "ter2`"),
            concat!("- wifi password (guests): sword", "fish"),
            concat!("Passwort: geheim", "123"),
            concat!("- WLAN-Passwort: sonnen", "blume"),
            concat!("mot de passe : soleil", "42"),
            concat!("contraseña: fake", "1234"),
            concat!("senha: fake", "1234"),
            concat!("her password for netflix is hun", "ter2"),
            concat!("DB_PASSWORD=fake", "pw"),
            concat!("password: sword", "fish (bank)"),
            concat!("password: $ecr", "et9"),
            concat!("| password | fake", "1234 |"),
            concat!("密码: fake", "1234"),
            concat!("pw: hun", "ter2"),
            concat!("passphrase: correct horse", " battery staple"),
            concat!("- **Passphrase**: correct horse", " battery staple"),
            concat!("password:\u{a0}hun", "ter2"),
        ],
        must_not: &[
            "passphrase: ask the person who set it",
            "passphrase: use several random words",
            "pw: Peter Weber",
            "password: see [[1password]]",
            "reset my password - 2FA is next",
            "password: changed last week",
            "password: [[vault]]",
            "password: ****",
            "password: ",
            "- password:\n- user: ada",
            "password: <your password>",
            "password manager: Bitwarden",
            "password: in Bitwarden",
            "- password policy: 12 characters",
            "the password is required",
            "Password: 1Password",
            "| Password | Username |",
            "his password was forgotten again",
            "password: see the safe",
            "password=$DB_PASSWORD",
            "password: &str",
            "password hint: name of the dog",
            "passwords: use long ones",
        ],
    },
    Row {
        name: "password",
        class: Class::Secret,
        words: "a password",
        needs: Needs::OneOf(&[
            "passw",
            "passphrase",
            "passcode",
            "pass code",
            "kennwort",
            "mot de passe",
            "mdp",
            "contrase",
            "senha",
            "palavra-passe",
            "pw",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
            "wachtwoord",
            "hasło",
        ]),
        case: Case::Folded,
        pattern: concat!(
            r"(?:(?:^|[\r\n])#+ [^\r\n:]{0,40}(?:passphrase|pass ?code|mot de passe|mdp|contrase[ñn]a|senha|palavra-passe|pwd?|wachtwoord|hasło|passw(?:or[dt]|d)|[a-z-]*passwort|kennwort|пароль|密[码碼]|パスワード|비밀번호)s?[ \t:#*]*|(?:^|[\r\n])[^\r\n]*(?:passphrase|pass ?code|mot de passe|mdp|contrase[ñn]a|senha|palavra-passe|pwd?|wachtwoord|hasło|passw(?:or[dt]|d)|[a-z-]*passwort|kennwort|пароль|密[码碼]|パスワード|비밀번호)s?[*_`]*[ \t]*:[*_` \t]*)",
            r"(?:\r?\n|\r)(?:[ \t]*(?:\r?\n|\r))*[ \t]*(?:[-*+] +)?[^ #\t\r\n|-][^ \t\r\n|]{3,}[ \t]*(?:[\r\n]|$)",
        ),
        check: Some(check::password_below),
        must_match: &[
            concat!("## Password\n\nhun", "ter2"),
            concat!("# WLAN-Passwort\n- `geheim", "123`\n"),
            concat!("### Bank password\nsword", "fish\n"),
            concat!("password:\n- hun", "ter2"),
            concat!("- **Password**:\n  - sword", "fish"),
        ],
        must_not: &[
            "## Passwords\n- Bitwarden",
            "## Password policy\n- length",
            "## Password\n\n## Tea",
            "- password:\n- green",
            "password:\n- [[vault]]",
            "password:\n- user: ada",
            "password:\nada@example.com",
            "## Password\nhttps://example.com/reset2",
            "## Password\nIt is kept elsewhere.",
        ],
    },
    Row {
        name: "password",
        class: Class::Secret,
        words: "a password",
        needs: Needs::OneOf(&[
            "passw",
            "passphrase",
            "passcode",
            "pass code",
            "kennwort",
            "mot de passe",
            "mdp",
            "contrase",
            "senha",
            "palavra-passe",
            "pw",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
            "wachtwoord",
            "hasło",
        ]),
        case: Case::Folded,
        pattern: r#"(?:passphrase|pass ?code|mot de passe|mdp|contrase[ñn]a|senha|palavra-passe|pwd?|wachtwoord|hasło|passw(?:or[dt]|d)|[a-z-]*passwort|kennwort|пароль|密[码碼]|パスワード|비밀번호)["'`*_]*(?: (?:for|of|für|pour) [a-z0-9._-]{1,20})?[ \t]*(?:->|=>|→|⇒|-{1,2})[ \t]*[^ \t\r\n|>]{4,}"#,
        check: Some(check::password_arrow),
        must_match: &[
            concat!("password -> hun", "ter2"),
            concat!("password → hun", "ter2"),
            concat!("password => hun", "ter2"),
            concat!("password \u{2013} hun", "ter2"),
            concat!("- **Password** \u{2014} `hun", "ter2`"),
            concat!("password for netflix - hun", "ter2"),
        ],
        must_not: &[
            "reset my password - 2FA is next",
            "password - 8-character minimum",
            "password - see [[1password]]",
            "password -> Bitwarden",
            "password-reset2024",
            "password-protected2",
            "passwords - policy v2.1",
        ],
    },
    Row {
        name: "pin",
        class: Class::Secret,
        words: "a PIN",
        needs: Needs::OneOf(&["pin", "geheimzahl", "cvv", "cvc", "security code"]),
        case: Case::Folded,
        pattern: strictly_labelled!(
            "pin|(?:card|bank|phone|sim|door|atm)[ _-]pin|pin[ _-]?(?:code|number|nummer)|code pin|c[oó]digo pin|codice pin|cvv2?|cvc2?|security code",
            "geheimzahl",
            "(?:[0-9]{4,8}|[0-9]{3}|[0-9]{2}(?:[ -][0-9]{2}){2,3})(?-u:\\b)"
        ),
        check: Some(check::pin),
        must_match: &[
            concat!("PIN: 12", "34"),
            concat!("- **Card PIN**: 98", "76"),
            concat!("Geheimzahl: 12", "34"),
            concat!("code PIN : 12", "34"),
            concat!("her pin is 12", "34"),
            concat!("CVV: 1", "23"),
        ],
        must_not: &[
            "PIN: ****",
            "- PIN code: 110001",
            "pin: red enamel",
            "spin: 1234",
            "pin: 5",
            "PIN: changed in 2024",
            "opinion: 1234",
        ],
    },
    Row {
        name: "card_number",
        class: Class::Secret,
        words: "a card number",
        needs: Needs::Digits(13),
        case: Case::Exact,
        pattern: "(?-u:\\b)[0-9]{4}(?:(?:  |[ ./-])?[0-9]){9,24}(?-u:\\b)",
        check: Some(check::card),
        must_match: &[
            concat!("4111 1111", " 1111 1111"),
            concat!("card 4111-1111", "-1111-1111."),
            concat!("55555555", "55554444"),
            concat!("3782 822463", " 10005"),
            concat!("on 2024 4111 1111", " 1111 1111"),
            concat!("4111.1111", ".1111.1111"),
            concat!("4111/1111", "/1111/1111"),
            concat!("4111  1111", "  1111  1111"),
            concat!("4111\u{a0}1111", "\u{a0}1111\u{2009}1111"),
            concat!("4111\u{2011}1111", "\u{2013}1111\u{2212}1111"),
        ],
        must_not: &[
            "4111 1111 1111 1112",
            "order 1234567890123456",
            "2024-01-02 03 04 05 06",
            "0.4111111111111111",
            "2024.01.02.03/04.05.06",
            "4111.1111.1111.1112",
            "41111111111111111111111111",
            "9780306406157",
            "1700000000000",
        ],
    },
    Row {
        name: "seed_phrase",
        class: Class::Secret,
        words: "the seed phrase of a wallet",
        needs: Needs::OneOf(&[
            "seed",
            "mnemonic",
            "recovery phrase",
            "recovery words",
            "backup phrase",
            "wiederherstellungsphrase",
        ]),
        case: Case::Folded,
        pattern: r#"(?:seed|mnemonic|recovery|backup|wiederherstellungs)[ _-]?(?:phrase|words)?(?: ?\([^)\r\n]*\))?["'`*_]*[ \t]*[:=]["'`*_]*"#,
        check: Some(check::seed_phrase),
        must_match: &[
            "seed phrase: fake lemon orbit chair velvet noodle paper tiger window garden rocket cloud",
            "- **Recovery phrase**: fake lemon orbit chair velvet noodle paper tiger window garden rocket cloud",
            "Mnemonic:\n1. fake 2. lemon 3. orbit 4. chair 5. velvet 6. noodle\n7. paper 8. tiger 9. window 10. garden 11. rocket 12. cloud",
        ],
        must_not: &[
            "seed phrase: kept in the safe at the bank",
            "- seed: 42",
            "seeds: carrot, lettuce, radish",
            "recovery: slow but good",
        ],
    },
];

/// The rows about active content.
const ACTIVE: &[Row] = &[
    Row {
        name: "script_block",
        class: Class::ActiveContent,
        words: "a dataviewjs block",
        needs: Needs::OneOf(&["dataviewjs"]),
        case: Case::Folded,
        pattern: r"(?:^|[\r\n])[ \t>*+0-9.)-]*(?:```+|~~~+)[ \t]*\{?[ \t]*\.?dataviewjs",
        check: None,
        must_match: &[
            "```dataviewjs\ndv.list()\n```",
            "> ~~~ dataviewjs",
            "- ````DataviewJS",
            "1) ```dataviewjs\n   x",
            "text\r```dataviewjs\rx\r```",
        ],
        must_not: &["```dataview\nLIST\n```", "dataviewjs is a plugin's block", "a `dataviewjs` block"],
    },
    Row {
        name: "script_block",
        class: Class::ActiveContent,
        words: "a block that runs",
        needs: Needs::OneOf(&["js-engine", "meta-bind-js", "jsx:", "run-"]),
        case: Case::Folded,
        pattern: "(?:^|[\r\n])[ \t>*+0-9.)-]*(?:```+|~~~+)[ \t]*(?:js-engine|meta-bind-js|jsx:|run-)",
        check: None,
        must_match: &["```js-engine\nreturn 1\n```", "```run-python", "x\r1) ```js-engine"],
        must_not: &["```js\nlet a;\n```", "run-time"],
    },
    Row {
        name: "inline_script",
        class: Class::ActiveContent,
        words: "an inline dataview script",
        needs: Needs::OneOf(&["$="]),
        case: Case::Exact,
        pattern: r"`[ \t\r\n]*\$=[^`]*`",
        check: None,
        must_match: &["age: `$= dv.current().age`", "` $= x`", "`` $= x ``", "`\n$= x`"],
        must_not: &["`= this.age`", "$= 5", "`a $= 5`"],
    },
    Row {
        name: "template",
        class: Class::ActiveContent,
        words: "a Templater command",
        needs: Needs::OneOf(&["<%"]),
        case: Case::Exact,
        pattern: r"<%(?:[ \t\r\n]*[^0-9 \t\r\n]|[^%<>\r\n]*%>)",
        check: None,
        must_match: &[
            "<% tp.date.now() %>",
            "<%* await x() %>",
            "<%tp.x%>",
            "<%(tp.x)%>",
            "<%[\"a\"][0]%>",
            "<%\n`x`\n%>",
            "<% 1, tp.x() %>",
        ],
        must_not: &["growth <5%", "a <%5 b", "a <% 5 b", "{{date}}"],
    },
    Row {
        name: "script",
        class: Class::ActiveContent,
        words: "a script",
        needs: Needs::OneOf(&["<script"]),
        case: Case::Folded,
        pattern: r"<script(?-u:\b)",
        check: None,
        must_match: &["<script>alert(1)</script>", "<SCRIPT src=x>"],
        must_not: &["the script of the play", "<scripture>"],
    },
    Row {
        name: "frame",
        class: Class::ActiveContent,
        words: "an embedded frame",
        needs: Needs::OneOf(&["<iframe", "<object", "<embed", "<frame", "<webview", "<meta", "<base", "<form"]),
        case: Case::Folded,
        pattern: concat!(
            r"<(?:iframe|object|embed|frame|webview|form)(?:[ \t\r\n/>]|$)|",
            tag!("meta", "http-equiv"),
            "|",
            tag!("base", "href"),
        ),
        check: None,
        must_match: &[
            "<iframe src=\"https://example.com\">",
            "<OBJECT data=x>",
            "<embed src=x>",
            "<meta http-equiv=refresh>",
            "<meta content='0;url=//e.com' http-equiv=refresh>",
            "<meta/name=\">\" http-equiv=\"refresh\">",
            "<base target=_top href=//e.com>",
        ],
        must_not: &["<objective>", "an iframe", "<formula>", "<meta charset=utf-8>"],
    },
    Row {
        name: "event_handler",
        class: Class::ActiveContent,
        words: "an event handler",
        needs: Needs::OneOf(&["<"]),
        case: Case::Folded,
        pattern: concat!(
            r#"<[a-z](?:[^<>"']|"[^"]*"|'[^']*')*?[ \t\r\n/"']on[a-z]{3,}[ \t\r\n]*=|"#,
            r#"<[a-z][^<>]*?[ \t\r\n/"']on[a-z]{3,}[ \t\r\n]*=|"#,
            r#"<[a-z](?:[^<>"']|"[^"]*"|'[^']*')*?(?:"[^"]*"|'[^']*')on[a-z]{3,}[ \t\r\n]*="#,
        ),
        check: None,
        must_match: &[
            "<img src=x onerror=alert(1)>",
            "<b\nonclick = 'x'>",
            "<svg/onload=x>",
            "<img alt=\">\" src=x onerror=x>",
            "<img alt='>'onerror=x>",
            "<a title=\"<b>\" onclick=x>",
        ],
        must_not: &["<img alt=\"on=off\">", "<b>on time = money</b>", "conversion=3", "a < b and onset = 4"],
    },
    Row {
        name: "script_link",
        class: Class::ActiveContent,
        words: "a link that runs",
        needs: Needs::OneOf(&[
            "javascript:",
            "vbscript:",
            "data:text/html",
            "data:image/svg",
            "&#",
            "&tab;",
            "&newline;",
            "&colon;",
        ]),
        case: Case::Folded,
        pattern: concat!(
            r"(?:java|vb)script:[^ \t\r\n]|(?:\(|=|:|<)[ \t]*[<\x22']?[ \t]*(?:java|vb)script:|data:(?:text/html|image/svg)",
            // An entity before the colon of an address: nobody needs one there but to hide which kind of address it is.
            r"|(?:\]\([ \t\r\n]*<?|\]:[ \t]*<?|(?:href|src|action|data)[ \t\r\n]*=[ \t\r\n]*[\x22']?)",
            r"[a-z \t\r\n]{0,40}&(?:#x?[0-9a-f]|tab;|newline;|colon;)",
        ),
        check: None,
        must_match: &[
            "[x](javascript:alert(1))",
            "<a href=\" JavaScript:x\">",
            "[x]: javascript:x",
            "[y](data:text/html,<b>)",
            "<a href=\"&#106;avascript:x\">",
            "<a href='&#x6A;avascript:x'>",
            "[x](java&#115;cript:x)",
            "<a href=javascript&colon;x>",
            "<a href=\"java&Tab;script:x\">",
        ],
        must_not: &[
            "<a href=\"https://example.com/?a&#61;b\">",
            "[x](mailto:ada&#64;localhost)",
            "I like JavaScript: it is odd",
            "- javascript: since 1995",
            "data: text/html",
        ],
    },
    Row {
        name: "app_link",
        class: Class::ActiveContent,
        words: "an obsidian link",
        needs: Needs::OneOf(&["obsidian://", "shell:", "file://", "ms-msdt:", "search-ms:"]),
        case: Case::Folded,
        pattern: r"obsidian://[a-z]|(?:\(|=|<)[ \t]*[\x22']?(?:file://|shell:|ms-msdt:|search-ms:)",
        check: None,
        must_match: &["[x](obsidian://advanced-uri?x=y)", "obsidian://open?vault=x", "[x](file:///etc/passwd)"],
        must_not: &["obsidian: // a stone", "https://obsidian.md", "shell: bash"],
    },
    Row {
        name: "remote_image",
        class: Class::ActiveContent,
        words: "a remote image",
        needs: Needs::OneOf(&["!["]),
        case: Case::Folded,
        pattern: elsewhere!(
            r"!\[(?:[^\[\]\\]|\\[^\r\n]|\\\r?\n|\[(?:[^\[\]\\]|\\[^\r\n]|\[[^\[\]]*\])*\])*\]\([ \t\r\n]*(?:>[ \t]*)*<?[ \t]*"
        ),
        check: None,
        must_match: &[
            "![](https://example.com/p.png?q=1)",
            "![a [b]](<http://example.com/x>)",
            "![x|100](//example.com/x)",
            "![x](\nhttps://example.com/x)",
            "> ![x](\n> https://example.com/x)",
            "![a\nb](https://example.com/x)",
            "![a \\] b](https://example.com/x)",
            "![a \\[ b](https://example.com/x)",
            "![a](https:/e.com/p)",
            "![a](https:\\e.com/p)",
            "![a](\\\\e.com/p)",
            "![a](\\/\\/e.com/p)",
            "![a](h&#116;tps://e.com/p)",
        ],
        must_not: &[
            "![[photo.png]]",
            "![x](images/a.png)",
            "[x](https://example.com)",
            "![[a]] and [b](https://example.com)",
            "![x](/images/a.png)",
            "![x](a&b.png)",
        ],
    },
    Row {
        name: "remote_image",
        class: Class::ActiveContent,
        words: "a remote image",
        needs: Needs::OneOf(&["!["]),
        case: Case::Folded,
        pattern: elsewhere!(r"(?:^|[\r\n])[ \t>*+0-9.)-]*\[(?:[^\[\]\\]|\\[^\r\n])+\]:[ \t]*(?:\r?\n[ \t>]*)?<?[ \t]*"),
        check: Some(check::image_definition),
        must_match: &[
            "![x][1]\n\n[1]: https://example.com/x",
            "[Logo]: <//example.com/x>\n\n![logo][]",
            "![a  b]\n\n> [A B]:\n> https://example.com",
            "![x [y]][ref]\n\n- [ref]: https:/example.com",
        ],
        must_not: &[
            "![x](a.png) [b][1]\n\n[1]: https://example.com",
            "![x][1]\n\n[1]: images/a.png",
            "![[a]]\n\n[b]: https://example.com",
            "![x][1] [2]: https://example.com",
        ],
    },
    Row {
        name: "remote_image",
        class: Class::ActiveContent,
        words: "a remote image",
        needs: Needs::OneOf(&["<img", "<video", "<audio", "<source", "<image", "<link", "<input", "<track"]),
        case: Case::Folded,
        pattern: elsewhere!(tag!(
            "img|video|audio|source|image|link|input|track",
            r#"(?:(?:src|href|poster)[ \t\r\n]*=[ \t\r\n]*["']?[ \t\r\n]*|srcset[ \t\r\n]*=[ \t\r\n]*(?:"[^"]*?|'[^']*?)?[ \t\r\n]*)"#
        )),
        check: None,
        must_match: &[
            "<img src=https://example.com/x>",
            "<IMG alt='x' src = \"//example.com/x\">",
            "<link rel=stylesheet href=http://example.com>",
            "<img alt=\">\" src=\"https://example.com/x\">",
            "<input type=image src=https:/example.com/x>",
            "<img srcset=\"a.png 1x, https://example.com/x 2x\">",
            "<img src='\\\\example.com'>",
        ],
        must_not: &["<img src=\"a.png\">", "<a href=\"https://example.com\">", "https://example.com/img"],
    },
    Row {
        name: "remote_style",
        class: Class::ActiveContent,
        words: "a style that loads something",
        needs: Needs::OneOf(&["<style", "style=", "style ="]),
        case: Case::Folded,
        pattern: elsewhere!(r#"(?:url\([ \t\r\n]*|@import[ \t\r\n]*)["']?[ \t\r\n]*"#),
        // Wherever the style stands: what a sheet begins may be far away.
        check: None,
        must_match: &[
            "<style>b{background:url(https://example.com/x)}</style>",
            "<style>@import '//example.com'</style>",
            "<b style=\"background:url('http://example.com')\">",
        ],
        must_not: &["<style>b{color:red}</style>", "style= url(a.png)", "url(https://example.com)"],
    },
];
