//! Values that are no secrets but stand for one: placeholders, references to
//! where the secret is kept, words about it.

use super::ValueContext;
use crate::shape;

/// The whole value, in any case.
const PLACEHOLDER_VALUES: &[&str] = &[
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "string",
    "str",
    "text",
    "int",
    "bool",
    "boolean",
    "bytes",
    "number",
    "any",
    "object",
    "hidden",
    "masked",
    "foobar",
    "foo",
    "bar",
    "baz",
    "n/a",
    "required",
    "optional",
    "default",
    "empty",
    "unset",
    "unknown",
    "env",
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "apikey",
    "api_key",
    "api-key",
    "test",
    "testing",
    "tests",
    "mypassword",
    "mysecret",
    "mytoken",
    "my-token",
    "my-secret",
    "my-password",
    "secretkey",
    "secret_key",
    "accesstoken",
    "access_token",
    "auth_token",
    "userpassword",
    "user",
    "username",
    "admin",
    "root",
    "value",
    "prompt",
    "stdin",
    "file",
    "keychain",
    "keyring",
    "inherit",
    "basic",
    "bearer",
    "oauth",
    "oauth2",
    "jwt",
    "base64",
    "sha256",
    "sha512",
    "sha1",
    "md5",
    "bcrypt",
    "argon2",
    "argon2id",
    "utf8",
    "utf-8",
    "rs256",
    "hs256",
    "es256",
    "ed25519",
    "rsa2048",
    "aes256",
    "pbkdf2",
    "ecdsa",
    "plaintext",
    "password1",
    "password2",
    "pass1",
    "pass2",
    "token1",
    "token2",
    "secret1",
    "secret2",
    "key1",
    "key2",
    "current-password",
    "new-password",
    "one-time-code",
    "write",
    "read",
    "self",
    "this",
];

/// Anywhere in the value, in lower case.
const PLACEHOLDER_PARTS: &[&str] = &[
    "example",
    "changeme",
    "change_me",
    "change-me",
    "change_this",
    "change-this",
    "placeholder",
    "your_",
    "your-",
    "your ",
    "yourkey",
    "yourtoken",
    "yoursecret",
    "yourpassword",
    "xxxx",
    "****",
    "....",
    "\u{2022}\u{2022}",
    "\u{2026}",
    "dummy",
    "redacted",
    "replace_",
    "replace-",
    "replaceme",
    "todo",
    "fixme",
    "insert_",
    "insert-",
    "not-a-real",
    "not_a_real",
    "fake",
    "goes_here",
    "goes-here",
    "goeshere",
    "&lt;",
    "process.env",
    "os.environ",
    "getenv",
    "env::var",
    "import.meta",
    "secretref",
    "valuefrom",
    "node_env",
    "keyvault",
];

/// Beginnings that refer to something kept elsewhere.
const REFERENCE_PREFIXES: &[&str] = &[
    "$",
    "{{",
    "{%",
    "#{",
    "%(",
    "%{",
    "<",
    "@",
    "env(",
    "env[",
    "env.",
    "ENV[",
    "ENV.",
    "secrets.",
    "secret:",
    "vault:",
    "vault.",
    "ref+",
    "op://",
    "arn:",
    "!",
    "var.",
    "local.",
    "data.",
    "module.",
    "config.",
    "config[",
    "self.",
    "this.",
    "settings.",
    "os.",
    "process.",
    "System.",
    "System_",
    "options.",
    "opts.",
    "args.",
    "params.",
    "props.",
    "req.",
    "request.",
    "ctx.",
    "&",
    "*",
    "(",
    "[",
    "file:",
    "file(",
    "ssm:",
    "sm://",
    "gcp:",
    "keyring:",
    "function",
    "async ",
    "lambda",
    "new ",
    "await ",
    "not ",
    "/run/secrets",
];

/// Words that follow the name of a flag in a sentence about it.
pub(super) const FLAG_PROSE_WORDS: &[&str] = &[
    "option",
    "options",
    "flag",
    "flags",
    "argument",
    "arguments",
    "parameter",
    "parameters",
    "instead",
    "which",
    "where",
    "should",
    "would",
    "could",
    "cannot",
    "using",
    "values",
    "given",
    "before",
    "after",
    "because",
    "while",
    "there",
    "their",
    "support",
    "supports",
    "field",
    "fields",
    "works",
    "takes",
    "reads",
    "sets",
    "means",
    "input",
    "variable",
    "exists",
];

/// Whether the value says that a secret belongs here, or where it is kept.
pub(crate) fn stands_for_another(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if PLACEHOLDER_VALUES.contains(&lower.as_str())
        || PLACEHOLDER_PARTS
            .iter()
            .any(|part| contains_part(&lower, part))
    {
        return true;
    }
    if names_itself(&lower) {
        return true;
    }
    let percent = value.len() > 2 && value.starts_with('%') && value.ends_with('%');
    if percent || value.starts_with(crate::MARK_PREFIX) {
        return true;
    }
    let mut chars = lower.chars();
    let first = chars.next();
    first.is_some() && chars.all(|c| Some(c) == first)
}

/// Words that made-up secrets are made of, longer before shorter.
const MADE_UP_WORDS: &[&str] = &[
    "credential",
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "correct",
    "expired",
    "invalid",
    "sample",
    "source",
    "target",
    "stale",
    "wrong",
    "super",
    "valid",
    "demo",
    "good",
    "some",
    "test",
    "bad",
    "new",
    "old",
    "my",
    "ci",
];
/// Those among them that say what it would be.
const SECRET_NOUN_COUNT: usize = 6;

/// `TestPassword123!`, `s3cret` and `acme-test-password`: tests and documents
/// write what it is in the place of the secret.
fn names_itself(lower: &str) -> bool {
    // A longer value is more than a made-up word.
    if lower.len() > 40 {
        return false;
    }
    let body = lower.trim_end_matches(['!', '?', '.']);
    let words = body.trim_end_matches(|c: char| c.is_ascii_digit());
    if body.len() - words.len() > 4 {
        return false;
    }
    let names = &MADE_UP_WORDS[..SECRET_NOUN_COUNT];
    let joined = words
        .bytes()
        .all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_'));
    let last = words.rsplit(['-', '_']).next().unwrap_or_default();
    if joined && body == words && last.len() < words.len() && names.contains(&last) {
        return true;
    }
    // Digits for letters are what made-up passwords are spelled with.
    let plain = words
        .replace(['3', '€'], "e")
        .replace('0', "o")
        .replace(['$', '5'], "s")
        .replace(['@', '4'], "a");
    let mut rest = plain.as_str();
    let mut is_named = false;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix(['-', '_', '.', ' ']) {
            rest = behind;
            continue;
        }
        let Some(word) = MADE_UP_WORDS.iter().find(|word| rest.starts_with(**word)) else {
            return false;
        };
        is_named |= names.contains(word);
        rest = &rest[word.len()..];
    }
    is_named
}

/// Whether the text contains the part; a short one must be a word of its own,
/// because chance puts four letters anywhere.
fn contains_part(text: &str, part: &str) -> bool {
    let letter = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphabetic);
    if part.len() > 5 || !part.is_ascii() {
        return text.contains(part);
    }
    text.match_indices(part).any(|(at, _)| {
        let bytes = text.as_bytes();
        let before = at.checked_sub(1).and_then(|i| bytes.get(i));
        // Runs of `x` are placeholders wherever they stand.
        let word = part.bytes().all(|b| b.is_ascii_alphabetic() && b != b'x');
        !word || (!letter(before) && !letter(bytes.get(at + part.len())))
    })
}

/// Whether the value is an expression or a reference, not a literal.
pub(super) fn is_reference(value: &str, place: ValueContext) -> bool {
    let starts = |list: &[&str]| list.iter().any(|start| value.starts_with(start));
    if starts(&["${", "$(", "{{", "<%", "%("]) {
        return true;
    }
    if place == ValueContext::Quoted || place == ValueContext::Config || place == ValueContext::Flag
    {
        // A password may begin with a sign; a reference has a name behind it.
        let sign = value
            .strip_prefix(['$', '@', '!', '&', '*', '<', '(', '['])
            .map(str::as_bytes);
        if let Some(rest) = sign {
            let named = rest
                .first()
                .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'{' | b'(' | b'_'));
            let dollar = value.starts_with('$') || value.starts_with('<');
            let name = rest.iter().all(|b| {
                b.is_ascii_alphanumeric()
                    || matches!(
                        b,
                        b'_' | b'{' | b'}' | b'.' | b':' | b'-' | b'(' | b')' | b'>' | b' '
                    )
            });
            return dollar && named && name && !shape::is_random(value);
        }
    }
    starts(REFERENCE_PREFIXES)
}

/// `$NAME`, as the shell writes it.
pub(super) fn is_shell_variable(value: &str) -> bool {
    value.strip_prefix('$').is_some_and(|name| {
        name.bytes()
            .next()
            .is_some_and(|b| b.is_ascii_uppercase() || b == b'_')
            && name
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    })
}
