//! What the name of a variable, key, flag or header says about its value.

/// What a value under a name is likely to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretClass {
    /// People choose these: short and weak ones count.
    Password,
    /// A machine made it, and the name leaves little doubt.
    Secret,
    /// The name alone says little; the value must look random.
    Weak,
    /// `Authorization` and its kin: a scheme, then the secret.
    Authorization,
    /// Lists of name and value.
    Cookie,
    /// A signature, secret only where it opens something: in an address.
    Signature,
    /// Words that stand for a key.
    Phrase,
}

/// A name that tells, and the kind for the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretName {
    pub(super) class: SecretClass,
    pub(super) kind: &'static str,
}

/// Literals of which every telling name contains one, in any case.
pub(super) const NAME_LITERALS: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "auth",
    "cookie",
    "sessid",
    "sessionid",
    "signature",
    "sig=",
    "mnemonic",
    "phrase",
    "jwt",
    "_pw",
    "sasl",
    "connect.sid",
    "kennwort",
    "authtok",
    "_pat",
    "psk",
];

/// Endings of a password's name, as one word.
const PASSWORD_ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "userpwd",
    "dbpwd",
    "dbpass",
    "userpass",
    "rootpass",
    "smtppass",
    "mysqlpass",
    "ftppass",
    "adminpass",
    "mailpass",
    "requirepass",
    "masterauth",
    "keypass",
    "storepass",
    "passwords",
];

/// What may follow the telling word without changing its meaning.
const NEUTRAL_SUFFIXES: &[&str] = &[
    "prod",
    "production",
    "dev",
    "development",
    "test",
    "testing",
    "staging",
    "stage",
    "stg",
    "old",
    "new",
    "value",
    "val",
    "str",
    "string",
    "base64",
    "b64",
    "plain",
    "plaintext",
    "raw",
    "default",
    "local",
    "main",
    "backup",
    "live",
    "sandbox",
    "env",
    "primary",
    "secondary",
    "current",
    "previous",
    "prev",
    "enc",
    "hex",
    "v",
    "a",
    "b",
    "x",
    "text",
    "data",
];

/// Words before `token` that make it a place in a list or a piece of a text.
const NON_SECRET_TOKEN_WORDS: &[&str] = &[
    "next",
    "page",
    "continuation",
    "cancel",
    "cancellation",
    "sync",
    "pagination",
    "lex",
    "lexer",
    "parse",
    "parser",
    "eof",
    "start",
    "end",
    "stop",
    "pad",
    "unk",
    "mask",
    "sep",
    "cls",
    "bos",
    "eos",
    "special",
    "image",
    "syntax",
    "unexpected",
    "abort",
    "design",
    "color",
    "by",
    "last",
    "prev",
    "previous",
    "first",
    "per",
    "quote",
    "close",
    "open",
];

/// Words before `key` that make the value a secret.
const SECRET_KEY_WORDS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "priv",
    "auth",
    "account",
    "master",
    "signing",
    "sign",
    "encryption",
    "encrypt",
    "encoding",
    "license",
    "licence",
    "app",
    "application",
    "client",
    "consumer",
    "service",
    "server",
    "deploy",
    "subscription",
    "shared",
    "integration",
    "admin",
    "write",
    "ingest",
    "hmac",
    "aes",
    "webhook",
    "session",
    "crypto",
    "storage",
    "function",
    "functions",
    "jwt",
    "cookie",
    "wrapping",
    "decryption",
    "management",
    "personal",
    "user",
    "dd",
    "datadog",
    "project",
    "org",
    "developer",
    "root",
    "security",
    "unseal",
    "activation",
    "instrumentation",
    "sas",
    "join",
    "preshared",
    "psk",
    "rest",
    "read",
    "secretaccess",
];

/// Words before `key` that make it an entry's name or something public.
const NON_SECRET_KEY_WORDS: &[&str] = &[
    "public",
    "pub",
    "foreign",
    "primary",
    "cache",
    "sort",
    "partition",
    "object",
    "row",
    "map",
    "index",
    "group",
    "composite",
    "unique",
    "dict",
    "idempotency",
    "i18n",
    "translation",
    "query",
    "react",
    "routing",
    "hot",
    "registry",
    "config",
    "feature",
    "json",
    "lookup",
    "column",
    "hash",
    "range",
    "bucket",
    "file",
    "s3",
    "known",
    "host",
    "label",
    "message",
    "locale",
    "publishable",
    "site",
    "restore",
    "dedupe",
    "event",
    "press",
    "arrow",
    "pkey",
    "natural",
    "surrogate",
];

/// Names of a maker in the name of a value, and the kind that follows.
const VENDOR_KINDS: &[(&str, &str)] = &[
    ("aws", "aws-secret-key"),
    ("secretaccesskey", "aws-secret-key"),
    ("heroku", "heroku-key"),
    ("datadog", "datadog-key"),
    ("cloudflare", "cloudflare-token"),
    ("vercel", "vercel-token"),
    ("azure", "azure-key"),
    ("accountkey", "azure-key"),
    ("sharedaccesskey", "azure-key"),
    ("twilio", "twilio-key"),
    ("mailgun", "mailgun-key"),
    ("bitbucket", "bitbucket-token"),
    ("github", "github-token"),
    ("gitlab", "gitlab-token"),
    ("dockerhub", "docker-token"),
    ("docker", "docker-token"),
    ("discord", "discord-token"),
    ("newrelic", "newrelic-key"),
    ("supabase", "supabase-key"),
    ("terraform", "terraform-token"),
    ("vault", "vault-token"),
    ("npm", "npm-token"),
    ("slack", "slack-token"),
    ("algolia", "algolia-key"),
    ("fastly", "fastly-token"),
    ("okta", "okta-token"),
    ("snyk", "snyk-token"),
    ("sonar", "sonar-token"),
    ("codecov", "codecov-token"),
    ("wandb", "wandb-key"),
    ("segment", "segment-key"),
    ("mixpanel", "mixpanel-key"),
    ("pagerduty", "pagerduty-key"),
    ("firebase", "firebase-key"),
    ("circleci", "circleci-token"),
    ("cargo", "crates-io-token"),
    ("django", "django-secret"),
    ("twitter", "twitter-key"),
    ("linkedin", "linkedin-secret"),
    ("dropbox", "dropbox-token"),
    ("zendesk", "zendesk-token"),
    ("jira", "atlassian-token"),
    ("confluence", "atlassian-token"),
];

/// Longer names are no names.
const MAX_SECRET_NAME_BYTES: usize = 96;

/// What this name says, if anything.
pub(super) fn parse_secret_name(name: &str) -> Option<SecretName> {
    let class = classify_name(name)?;
    let kind = find_mark_kind(name, class);
    Some(SecretName { class, kind })
}

/// What sort of value the name announces.
pub(super) fn classify_name(name: &str) -> Option<SecretClass> {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b' ');
    if name.is_empty() || name.len() > MAX_SECRET_NAME_BYTES || !name.bytes().all(part) {
        return None;
    }
    let flat: String = name.to_ascii_lowercase();
    let mut words = split_name(name);
    // `API_KEY_PROD_2` is an API key: what follows the telling word is dropped
    // from the end.
    while words.len() > 1
        && words.last().is_some_and(|w| {
            NEUTRAL_SUFFIXES.contains(&w.as_str()) || w.bytes().all(|b| b.is_ascii_digit())
        })
    {
        words.pop();
    }
    let last = words.last()?.as_str();
    let before = words
        .len()
        .checked_sub(2)
        .map_or("", |at| words[at].as_str());
    let class = of_words(&words, last, before, &flat)?;
    // `NAME_KEY` in the environment is hardly ever an entry's name.
    let variable = words.len() > 1 && !name.bytes().any(|b| b.is_ascii_lowercase());
    Some(if class == SecretClass::Weak && last == "key" && variable {
        SecretClass::Secret
    } else {
        class
    })
}

fn of_words(words: &[String], last: &str, before: &str, flat: &str) -> Option<SecretClass> {
    let ends = |list: &[&str]| list.iter().any(|end| last.ends_with(end));
    if matches!(last, "authorization") || flat.ends_with("x-auth") {
        return Some(SecretClass::Authorization);
    }
    if matches!(last, "cookie" | "cookies") {
        return Some(SecretClass::Cookie);
    }
    if ends(PASSWORD_ENDINGS) || matches!(last, "pwd" | "pass" | "pw" | "psk") {
        return Some(SecretClass::Password);
    }
    if last == "phrase" && matches!(before, "pass") {
        return Some(SecretClass::Password);
    }
    if matches!(last, "mnemonic")
        || (last == "phrase" && matches!(before, "seed" | "recovery" | "mnemonic"))
    {
        return Some(SecretClass::Phrase);
    }
    if matches!(last, "signature" | "sig") {
        return Some(SecretClass::Signature);
    }
    if last.ends_with("token") || last.ends_with("authtok") || matches!(last, "jwt" | "bearer") {
        // Parsers and language models have tokens on every line; a false mark
        // there destroys code.
        return (!NON_SECRET_TOKEN_WORDS.contains(&before)).then_some(SecretClass::Secret);
    }
    // Alone it is a name, a path or a pattern.
    if last == "pat" && words.len() > 1 && VENDOR_KINDS.iter().any(|(maker, _)| before == *maker) {
        return Some(SecretClass::Secret);
    }
    if last.ends_with("secret") {
        return Some(SecretClass::Secret);
    }
    if words.iter().any(|w| w.ends_with("secret"))
        && matches!(last, "key" | "base" | "id" | "access")
    {
        return Some(SecretClass::Secret);
    }
    if last == "id" && before == "key" {
        return Some(SecretClass::Weak);
    }
    if last == "key" {
        return if NON_SECRET_KEY_WORDS.contains(&before) {
            None
        } else if SECRET_KEY_WORDS.contains(&before) {
            Some(SecretClass::Secret)
        } else {
            Some(SecretClass::Weak)
        };
    }
    if let Some(stem) = last.strip_suffix("key") {
        return if SECRET_KEY_WORDS.iter().any(|word| stem.ends_with(word)) {
            Some(SecretClass::Secret)
        } else {
            None
        };
    }
    if matches!(
        last,
        "tokens" | "secrets" | "keys" | "credential" | "credentials" | "auth" | "apikeys"
    ) || matches!(last, "phpsessid" | "jsessionid" | "sessionid" | "authtoken")
        || flat.ends_with("connect.sid")
    {
        return Some(SecretClass::Weak);
    }
    None
}

/// The mark's kind for a value under this name.
pub(super) fn find_mark_kind(name: &str, class: SecretClass) -> &'static str {
    match class {
        SecretClass::Password => return "password",
        SecretClass::Cookie => return "cookie",
        SecretClass::Authorization => return "authorization",
        SecretClass::Signature => return "signature",
        SecretClass::Phrase => return "seed-phrase",
        SecretClass::Secret | SecretClass::Weak => {}
    }
    let flat = name.to_ascii_lowercase();
    // Makers are looked for across word boundaries: `secret_access_key`,
    // `secretAccessKey`.
    let joined = flat.replace(['_', '-', '.'], "");
    let maker = VENDOR_KINDS
        .iter()
        .find(|(maker, _)| joined.contains(maker));
    if let Some((_, kind)) = maker {
        return kind;
    }
    let words = split_name(name);
    let last = words.last().map_or("", String::as_str);
    if (flat.contains("private") && last != "token") || flat.contains("client-key") {
        "private-key"
    } else if flat.contains("secret") {
        "secret"
    } else if last.ends_with("token") || matches!(last, "jwt" | "bearer" | "auth" | "pat") {
        "token"
    } else if last.contains("sess") || last == "sid" {
        "session-id"
    } else if last.ends_with("key") {
        "api-key"
    } else {
        "secret"
    }
}

/// The words of a name, in lower case: `dbPassword`, `DB_PASSWORD` and
/// `db-password` have the same two.
fn split_name(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            continue;
        }
        let hump = byte.is_ascii_uppercase() && at > 0 && {
            let before = bytes[at - 1];
            let next = bytes.get(at + 1).copied().unwrap_or(b' ');
            before.is_ascii_lowercase()
                || (before.is_ascii_uppercase() && next.is_ascii_lowercase())
        };
        let number = byte.is_ascii_digit()
            && !word.is_empty()
            && !word.ends_with(|c: char| c.is_ascii_digit());
        // `sha256` and `base64` stay one word; `token2` is a token.
        if (hump || (number && ends_with_secret_word(&word))) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(char::from(byte.to_ascii_lowercase()));
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn ends_with_secret_word(word: &str) -> bool {
    [
        "password", "passwd", "pass", "pwd", "token", "secret", "key",
    ]
    .iter()
    .any(|end| word.ends_with(end))
}
