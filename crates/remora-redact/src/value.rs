//! Judges whether a value under a telling name is a secret, or a placeholder, a
//! reference, a piece of code or a word about secrets.

mod stand_in;

pub(super) use stand_in::stands_for_another;
use stand_in::{FLAG_PROSE_WORDS, is_reference, is_shell_variable};

use super::header;
use super::names::SecretClass;
use super::shape::{self, CharMix};

/// The context of a value; decides how much evidence it must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// Between quotes, next to its name.
    Quoted,
    /// A line of the form `NAME=value` or `name: value`, or part of an address.
    Config,
    /// After a flag of a command.
    Flag,
    /// Without quotes where code may stand.
    Bare,
    /// In a sentence, behind a verb that says what the password is.
    Said,
    /// In a list behind its name, or in a sentence.
    Loose,
}

/// A number as programs write it, with its type behind it.
fn is_number(value: &str) -> bool {
    let rest = value.trim_start_matches('-');
    let (digits, hex) = rest
        .strip_prefix("0x")
        .map_or((rest, false), |rest| (rest, true));
    let length = digits
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'_' || (hex && b.is_ascii_hexdigit()))
        .count();
    let tail = &digits[length..];
    let typed = tail.is_empty()
        || (matches!(tail.as_bytes()[0], b'u' | b'i' | b'f' | b'U' | b'L') && tail.len() <= 5)
        || matches!(tail, "ms" | "s" | "px" | "n");
    length > 0 && length <= 20 && typed
}

/// Whether the value reads as a name in code: words, joined.
fn name_like(value: &str, mix: &CharMix) -> bool {
    let plain = value
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':'));
    plain && mix.all_switches <= 2 && !shape::is_random(value)
}

/// Whether the value is code: a call, an index, a path of members.
fn is_code(value: &str) -> bool {
    let bytes = value.as_bytes();
    let call = value.contains("()")
        || value.contains("[\"")
        || value.contains("['")
        || value.contains("::")
        || value.contains("->")
        || value.contains("=>");
    let open = bytes.iter().position(|b| matches!(b, b'(' | b'['));
    let called = open.is_some_and(|at| {
        at > 0
            && bytes[..at]
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'))
    });
    let constant = value.contains('_')
        && bytes
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
        && value
            .split('_')
            .all(|part| part.len() <= 12 && CharMix::from_text(part).all_switches <= 1);
    let mut parts = value.split('.');
    let members = value.contains('.')
        && parts.all(|part| {
            part.bytes()
                .next()
                .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && !shape::is_random(part)
        });
    call || called || members || constant
}

/// Whether the value is a secret of this class in this context.
pub(super) fn is_secret(value: &str, class: SecretClass, place: ValueContext) -> bool {
    let value = value.trim();
    // The beginning of a long value tells as much as all of it.
    let value = &value[..super::assign::floor_boundary(value.as_bytes(), 512)];
    // Placeholders and references first: a false mark destroys what memory is
    // for.
    if value.len() < 3
        || is_shell_variable(value)
        || stands_for_another(value)
        || is_reference(value, place)
    {
        return false;
    }
    if matches!(
        place,
        ValueContext::Bare | ValueContext::Loose | ValueContext::Said
    ) && is_number(value)
    {
        return false;
    }
    if place == ValueContext::Flag && FLAG_PROSE_WORDS.contains(&value) {
        return false;
    }
    let mix = CharMix::from_text(value);
    match class {
        SecretClass::Password => is_password(value, &mix, place),
        SecretClass::Secret => machine_made(value, &mix, place),
        SecretClass::Weak => is_weak_secret(value, &mix),
        SecretClass::Authorization => {
            value.len() >= 8
                && !is_code(value)
                && (shape::is_random(value)
                    || (mix.digits > 0 && mix.count_letters() > 3 && mix.spaces == 0))
        }
        SecretClass::Signature => {
            value.len() >= 16 && mix.digits > 0 && (shape::is_random(value) || value.len() >= 32)
        }
        SecretClass::Phrase => is_seed_phrase(value),
        SecretClass::Cookie => false,
    }
}

fn is_password(value: &str, mix: &CharMix, place: ValueContext) -> bool {
    if value.len() > 256
        || shape::is_path(value)
        || is_number(value)
            && place != ValueContext::Config
            && place != ValueContext::Flag
            && place != ValueContext::Quoted
    {
        return false;
    }
    let strange = mix.symbols > 0;
    let mixed = mix.digits > 0 && mix.count_letters() > 0;
    match place {
        ValueContext::Config | ValueContext::Flag => {
            // In these places even a plain word is somebody's password, but
            // prose and code use the same signs.
            if mix.spaces > 0 {
                return (mixed && value.len() <= 64) || four_fours(value);
            }
            !is_code(value) && (value.len() >= 5 || (value.len() >= 4 && mixed))
        }
        ValueContext::Quoted => {
            if mix.spaces > 0 {
                // A sentence about passwords, unless it is a strange one.
                return mix.spaces == 1 && mixed && strange && value.len() >= 8;
            }
            let digits_only = mix.digits == value.len() && value.len() >= 6;
            let words = value.split('-').filter(|w| w.len() >= 3).count() >= 4;
            let marks = value.bytes().any(|b| {
                matches!(
                    b,
                    b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'+'
                )
            });
            // Capitals where no name has them.
            let uneven = mix.upper >= 2
                && mix.lower >= 2
                && value.len() >= 8
                && mix.humps * 3 < mix.count_letters() * 2;
            digits_only
                || uneven
                || (mixed && value.len() >= 5)
                || (marks && mix.count_letters() > 0 && value.len() >= 6)
                || words
                || shape::is_random(value)
        }
        ValueContext::Bare => {
            mix.spaces == 0
                && !is_code(value)
                && value.len() >= 6
                && ((mixed && (strange || mix.switches >= 2 || mix.digits >= 3))
                    || shape::is_random(value))
        }
        ValueContext::Loose | ValueContext::Said => {
            // A word with two digits behind it is a password only where a
            // sentence says so.
            let said = place == ValueContext::Said && value.len() >= 8 && ends_in_digits(value);
            mix.spaces == 0
                && !is_code(value)
                && !value.contains("://")
                && value.len() >= 7
                && mixed
                && (strange
                    || said
                    || mix.switches >= 2
                    || (mix.upper > 0 && mix.digits > 1)
                    || mix.digits >= 3)
                && (!value.bytes().next().is_some_and(|b| b.is_ascii_digit())
                    || (place == ValueContext::Said && shape::is_random(value)))
        }
    }
}

/// Letters and at least two digits, in this order.
fn ends_in_digits(value: &str) -> bool {
    let letters = value.trim_end_matches(|c: char| c.is_ascii_digit());
    value.len() - letters.len() >= 2 && letters.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Four groups of four letters, as mail providers hand them out.
fn four_fours(value: &str) -> bool {
    let groups = value.split(' ');
    groups.clone().count() == 4
        && groups
            .clone()
            .all(|group| group.len() == 4 && group.bytes().all(|b| b.is_ascii_lowercase()))
}

fn machine_made(value: &str, mix: &CharMix, place: ValueContext) -> bool {
    if value.len() < 8 || mix.spaces > 0 || shape::is_path(value) {
        return false;
    }
    let loose = matches!(place, ValueContext::Loose | ValueContext::Said);
    if (loose || place == ValueContext::Bare) && is_code(value) {
        return false;
    }
    if shape::is_uuid(value) {
        // Ids of rows and requests are mentioned in sentences all the time.
        return !loose;
    }
    if shape::is_hex(value) {
        // In prose a short hexadecimal run is a commit or a colour.
        let least = if loose { 32 } else { 16 };
        return value.len() >= least
            && mix.digits > 0
            && (mix.count_letters() > 0 || value.len() >= 32);
    }
    let random = shape::is_random(value);
    match place {
        ValueContext::Config | ValueContext::Flag | ValueContext::Quoted => {
            random
                || (!name_like(value, mix)
                    && mix.digits > 0
                    && mix.count_letters() > 3
                    && !is_code(value))
                || (mix.digits >= 3
                    && mix.count_letters() >= 4
                    && value.len() >= 12
                    && mix.switches > 0
                    && !is_dated_name(value))
                || (place == ValueContext::Config
                    && value.len() >= 24
                    && mix.upper > 0
                    && mix.lower > 0
                    && mix.digits > 0)
        }
        ValueContext::Bare => random && value.len() >= 12,
        ValueContext::Loose | ValueContext::Said => {
            random && value.len() >= 16 && (mix.digits > 0 || (mix.upper > 2 && mix.lower > 2))
        }
    }
}

/// Words and a date or version: `release-2024-01-15`.
fn is_dated_name(value: &str) -> bool {
    value.split(['-', '_', '.', ':', '/']).all(|part| {
        part.bytes().all(|b| b.is_ascii_digit()) || part.bytes().all(|b| b.is_ascii_alphabetic())
    })
}

fn is_weak_secret(value: &str, mix: &CharMix) -> bool {
    if mix.spaces > 0 {
        return false;
    }
    // `auth` in a registry's settings is a user and a password in base64.
    if value.len() >= 12 && mix.upper > 0 && mix.lower > 0 && header::user_and_password(value) {
        return true;
    }
    if value.len() < 20 {
        return false;
    }
    if shape::is_uuid(value) || shape::is_path(value) || is_code(value) || ends_with_checksum(value)
    {
        return false;
    }
    // A bare hexadecimal number is a sum or an id far more often than a key.
    if shape::is_hex(
        value
            .trim_start_matches("sha256-")
            .trim_start_matches("sha256:"),
    ) {
        return false;
    }
    // The beginnings of public keys of the usual sorts.
    let public = [
        "MFkwEwYHKoZIzj0C",
        "MIIBIjANBgkqhki",
        "MIICIjANBgkqhki",
        "MCowBQYDK2Vw",
        "AAAAB3Nza",
        "AAAAC3Nza",
    ];
    if public.iter().any(|start| value.starts_with(start)) {
        return false;
    }
    let plain = value.bytes().all(|b| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b'%' | b':'
            )
    });
    plain
        && mix.digits > 0
        && mix.upper > 0
        && mix.lower > 0
        && shape::is_random(value)
        && shape::compute_entropy(value) >= 3.4
        && !["sha1-", "sha256-", "sha384-", "sha512-", "SHA256:", "MD5:"]
            .iter()
            .any(|sum| value.starts_with(sum))
}

/// Words and a sum behind them, as caches name their entries.
fn ends_with_checksum(value: &str) -> bool {
    value.rsplit_once('-').is_some_and(|(words, sum)| {
        sum.len() >= 32 && shape::is_hex(sum) && !shape::is_random(words)
    })
}

/// Twelve and more plain words.
fn is_seed_phrase(value: &str) -> bool {
    let words = value.split_whitespace();
    let count = words.clone().count();
    (12..=24).contains(&count)
        && words
            .clone()
            .all(|w| (3..=8).contains(&w.len()) && w.bytes().all(|b| b.is_ascii_lowercase()))
}
