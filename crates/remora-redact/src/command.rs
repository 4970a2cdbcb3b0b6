//! Secrets in the arguments of known tools, and in the lines of files that
//! hold nothing but credentials.

mod tools;

use std::ops::Range;

use super::header::{self, count_bytes_while};
use super::names::SecretClass;
use super::scan::can_start_token;
use super::shape::{self, CharMix};
use super::value::{self, ValueContext};
use super::{Finding, FindingRank};

use tools::SecretArg;
pub(super) use tools::{SecretTool, TOOL_WORDS};

/// How far behind the tool's name its arguments are looked for.
pub(super) const MAX_DISTANCE_BYTES: usize = 600;

/// Looks at the place where the word stands.
pub(super) fn find_command_secrets(
    text: &str,
    hit: Range<usize>,
    tool: SecretTool,
    found: &mut Vec<Finding>,
) {
    match tool {
        SecretTool::Flags(args) => {
            // `gzip -p` is not `zip -p`.
            if can_start_token(text.as_bytes(), hit.start) {
                let at = hit.end - usize::from(text.as_bytes()[hit.end - 1] == b' ');
                find_argument_secrets(text, at, args, found);
            }
        }
        SecretTool::Htpasswd => find_htpasswd_secret(text, hit.end, found),
        SecretTool::NetUse => net_use(text, hit.end - 1, found),
        SecretTool::Slash => find_slash_secret(text, hit.end, found),
        SecretTool::BeforeAt => before_at(text, hit.start, found),
        SecretTool::Argument(number) => find_call_argument_secret(text, hit.end, number, found),
        SecretTool::Send => find_sent_password(text, hit, found),
        SecretTool::CookieObject => cookie_object(text, hit.start, found),
        SecretTool::CookieLine => cookie_line(text, hit.start, found),
        SecretTool::Netrc => find_netrc_secret(text, hit.end, found),
        SecretTool::Pgpass => find_pgpass_secret(text, hit, found),
        SecretTool::Crypt => find_password_hash(text, hit, found),
        SecretTool::Identified => find_identified_by_secret(text, hit.end, found),
        SecretTool::Chpasswd => find_piped_secret(text, hit.start, PipedInput::Pair, found),
        SecretTool::Piped => {
            find_piped_secret(text, hit.start, PipedInput::Whole, found);
            find_next_word_secret(text, hit.end, "<<<", found);
        }
        SecretTool::NextWord => {
            let length =
                count_bytes_while(text, hit.end, |b| !b.is_ascii_whitespace() && b != b'\\');
            add_if_password(text, hit.end..hit.end + length, found);
        }
    }
}

fn find_argument_secrets(text: &str, at: usize, args: &[SecretArg], found: &mut Vec<Finding>) {
    for arg in args {
        match *arg {
            SecretArg::Joined(flag) => find_joined_secret(text, at, flag, found),
            SecretArg::Next(flag) => find_next_word_secret(text, at, flag, found),
            SecretArg::Pair(flag, sign) => find_user_pair_secret(text, at, flag, sign, found),
            SecretArg::Cookie(flag) => find_cookie_flag_secrets(text, at, flag, found),
            SecretArg::Word(number) => {
                let mut plain = iter_command_words(text, at).filter(|range| !is_flag(text, range));
                if let Some(range) = plain.nth(number) {
                    add_if_password(text, range, found);
                }
            }
        }
    }
}

fn is_flag(text: &str, range: &Range<usize>) -> bool {
    text.as_bytes()[range.start] == b'-'
}

/// A secret key that stands close behind its id.
pub(super) fn aws_pair(text: &str, at: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(at + 160);
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let mut start = at;
    while start < limit {
        let length = count_bytes_while(text, start, part);
        if length == 40
            && text.get(start..start + 40).is_some_and(|word| {
                let mix = CharMix::from_text(word);
                mix.upper > 2 && mix.lower > 2 && mix.digits > 0 && !shape::is_path(word)
            })
        {
            found.push(Finding::new(
                "aws-secret-key",
                start..start + 40,
                FindingRank::Shape,
            ));
            return;
        }
        start += length.max(1);
    }
}

/// The words of a command from here to its end, as the shell would split them,
/// near enough. It begins in the middle of any text, of JSON as well, where line
/// ends and quotes are escaped once more, and it gives places rather than words:
/// what is found is cut out. A reader of command lines has neither.
struct CommandWords<'a> {
    text: &'a str,
    at: usize,
    limit: usize,
}

impl Iterator for CommandWords<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        while self.at < self.limit && matches!(bytes[self.at], b' ' | b'\t') {
            self.at += 1;
        }
        // A backslash at the end of a line joins it to the next.
        while bytes.get(self.at) == Some(&b'\\') {
            let line = bytes.get(self.at + 1) == Some(&b'\n');
            let escaped = self.text.get(self.at..self.at + 4) == Some("\\\\\\n");
            if !line && !escaped {
                break;
            }
            self.at += if line { 2 } else { 4 };
            while self.at < self.limit && matches!(bytes[self.at], b' ' | b'\t') {
                self.at += 1;
            }
        }
        let start = self.at;
        if start >= self.limit || matches!(bytes[start], b'\n' | b'\r' | b'|' | b';') {
            return None;
        }
        let mut quote = None;
        while self.at < self.limit {
            let byte = bytes[self.at];
            match (quote, byte) {
                (None, b' ' | b'\t' | b'\n' | b'\r' | b'|' | b';') | (Some(_), b'\n') => break,
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), _) if byte == open => quote = None,
                _ => {}
            }
            self.at += 1;
        }
        Some(start..super::assign::floor_boundary(bytes, self.at))
    }
}

fn iter_command_words(text: &str, at: usize) -> CommandWords<'_> {
    let mut at = at;
    // The rest of the tool's own name, such as `mysqladmin`.
    at += count_bytes_while(text, at, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')
    });
    CommandWords {
        text,
        at,
        limit: text.len().min(at + MAX_DISTANCE_BYTES),
    }
}

/// The range without quotes, escaped or not, around it.
fn trim_quotes(text: &str, range: Range<usize>) -> Range<usize> {
    let Some(word) = text.get(range.clone()) else {
        return range;
    };
    let inner = word.trim_start_matches(['\\', '"', '\'']);
    let start = range.end - inner.len();
    let inner = inner.trim_end_matches(['"', '\'', '\\']);
    start..start + inner.len()
}

fn add_if_password(text: &str, range: Range<usize>, found: &mut Vec<Finding>) {
    let range = trim_quotes(text, range);
    if let Some(word) = text.get(range.clone())
        && value::is_secret(word, SecretClass::Password, ValueContext::Flag)
    {
        found.push(Finding::new("password", range, FindingRank::Place));
    }
}

/// A flag with the secret joined to it.
fn find_joined_secret(text: &str, at: usize, flag: &str, found: &mut Vec<Finding>) {
    for range in iter_command_words(text, at) {
        let word = text.get(range.clone()).unwrap_or_default();
        let rest = word.strip_prefix(flag).filter(|rest| !rest.is_empty());
        if let Some(rest) = rest.filter(|rest| !rest.starts_with('=')) {
            // `-p3306` is a port somewhere else, and no password here.
            if !rest.bytes().all(|b| b.is_ascii_digit()) {
                add_if_password(text, range.end - rest.len()..range.end, found);
            }
        }
    }
}

/// A flag with the secret as the next word.
fn find_next_word_secret(text: &str, at: usize, flag: &str, found: &mut Vec<Finding>) {
    let mut due = false;
    for range in iter_command_words(text, at) {
        let word = text.get(range.clone()).unwrap_or_default();
        if due && !word.starts_with('-') {
            add_if_password(text, range, found);
            due = false;
        } else {
            due = word == flag;
        }
    }
}

/// A flag's values, joined to it or as the next word.
fn values_of<'a>(
    text: &'a str,
    at: usize,
    flag: &'a str,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut due = false;
    iter_command_words(text, at).filter_map(move |range| {
        let word = text.get(range.clone()).unwrap_or_default();
        let joined = word.strip_prefix(flag).and_then(|rest| {
            let own = rest.strip_prefix('=').unwrap_or(rest);
            (!own.is_empty() && (flag.len() == 2 || rest.starts_with('='))).then_some(own)
        });
        let value = if due { Some(word) } else { joined };
        due = word == flag;
        value.map(|value| trim_quotes(text, range.end - value.len()..range.end))
    })
}

/// `user:SECRET` behind a flag.
fn find_user_pair_secret(text: &str, at: usize, flag: &str, sign: char, found: &mut Vec<Finding>) {
    for range in values_of(text, at, flag) {
        let inner = text.get(range.clone()).unwrap_or_default();
        if let Some((_, secret)) = inner.split_once(sign)
            && !secret.is_empty()
            && !inner.contains("://")
            && value::is_secret(secret, SecretClass::Password, ValueContext::Flag)
        {
            let start = range.end - secret.len();
            found.push(Finding::new(
                "password",
                start..range.end,
                FindingRank::Place,
            ));
        } else if let Some(user) = inner.strip_suffix(sign)
            && shape::is_random(user)
        {
            let end = range.end - sign.len_utf8();
            found.push(Finding::new("token", range.start..end, FindingRank::Place));
        }
    }
}

/// Cookies behind a flag; without a sign it is the name of a file.
fn find_cookie_flag_secrets(text: &str, at: usize, flag: &str, found: &mut Vec<Finding>) {
    for range in values_of(text, at, flag) {
        if let Some(head) = text.get(..range.end)
            && head[range.start..].contains('=')
        {
            header::find_cookie_values(head, range.start, found);
        }
    }
}

/// What a script types behind a prompt for a password.
fn find_sent_password(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) {
    let floor = super::assign::floor_boundary(text.as_bytes(), hit.start.saturating_sub(80));
    let before = text.get(floor..hit.start).unwrap_or_default();
    if before.contains("assword") || before.contains("assphrase") {
        let length = count_bytes_while(text, hit.end, |b| !matches!(b, b'"' | b'\\' | b'\n'));
        add_if_password(text, hit.end..hit.end + length, found);
    }
}

/// The value of a cookie that a browser's tool wrote as an object.
fn cookie_object(text: &str, at: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let floor = super::assign::floor_boundary(bytes, at.saturating_sub(MAX_DISTANCE_BYTES));
    let before = text.get(floor..at).unwrap_or_default();
    let own = before.rfind('{').map_or(before, |open| &before[open..]);
    let Some(key) = own.find("value\"").or_else(|| own.find("value\\\"")) else {
        return;
    };
    let quote = |b: u8| matches!(b, b'"' | b'\\' | b' ' | b':');
    let start = at - own.len() + key + "value".len();
    let start = start + count_bytes_while(text, start, quote);
    let length = count_bytes_while(text, start, |b| !matches!(b, b'"' | b'\\' | b'\n' | b','));
    let range = start..start + length;
    if text.get(range.clone()).is_some_and(header::is_value) {
        found.push(Finding::new("cookie", range, FindingRank::Place));
    }
}

/// `DOMAIN TRUE PATH FALSE EXPIRES NAME SECRET`, set apart by tabs.
fn cookie_line(text: &str, at: usize, found: &mut Vec<Finding>) {
    let length = count_bytes_while(text, at, |b| !matches!(b, b'\n' | b'\r'));
    let own = text.get(at..at + length).unwrap_or_default();
    let columns: Vec<&str> = own.split('\t').collect();
    if let [_, _, _, _, _, _, word] = columns[..]
        && header::is_value(word)
    {
        let end = at + length;
        found.push(Finding::new(
            "cookie",
            end - word.len()..end,
            FindingRank::Place,
        ));
    }
}

fn find_htpasswd_secret(text: &str, at: usize, found: &mut Vec<Finding>) {
    let all: Vec<Range<usize>> = iter_command_words(text, at).collect();
    let batch = all.iter().any(|range| {
        let word = text.get(range.clone()).unwrap_or_default();
        word.starts_with('-') && !word.starts_with("--") && word.contains('b')
    });
    let mut plain = all.into_iter().filter(|range| !is_flag(text, range));
    // With `-n` there is no file; the secret is the last in any case.
    if batch && let Some(range) = plain.nth(1).map(|second| plain.next().unwrap_or(second)) {
        add_if_password(text, range, found);
    }
}

fn net_use(text: &str, at: usize, found: &mut Vec<Finding>) {
    let all: Vec<Range<usize>> = iter_command_words(text, at).collect();
    let user = all.iter().position(|range| {
        let word = text.get(range.clone()).unwrap_or_default();
        word.get(..6)
            .is_some_and(|head| head.eq_ignore_ascii_case("/user:"))
    });
    let Some(user) = user else {
        return;
    };
    let near = [user.checked_sub(1), Some(user + 1)];
    for range in near.into_iter().flatten().filter_map(|at| all.get(at)) {
        let word = text.get(range.clone()).unwrap_or_default();
        if !word.starts_with(['\\', '/', '*']) {
            add_if_password(text, range.clone(), found);
        }
    }
}

/// `user/SECRET@database`, in the first words.
fn find_slash_secret(text: &str, at: usize, found: &mut Vec<Finding>) {
    let limit = text.len().min(at + MAX_DISTANCE_BYTES);
    for range in (CommandWords { text, at, limit }).take(4) {
        let range = trim_quotes(text, range);
        let word = text.get(range.clone()).unwrap_or_default();
        if let Some((user, rest)) = word.split_once('/')
            && let Some(length) = rest.find('@')
            && !user.is_empty()
            && user
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'#'))
        {
            let start = range.start + user.len() + 1;
            add_if_password(text, start..start + length, found);
            return;
        }
    }
}

/// `user:SECRET` before a place.
fn before_at(text: &str, at: usize, found: &mut Vec<Finding>) {
    let own = find_line_range(text, at.saturating_sub(1));
    let word = text.get(own.start..at).unwrap_or_default();
    if let Some((user, secret)) = word.split_once(':')
        && !user.is_empty()
        && !secret.starts_with("//")
    {
        add_if_password(text, at - secret.len()..at, found);
    }
}

/// An argument of a call, if it is quoted.
fn find_call_argument_secret(text: &str, at: usize, number: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(at + MAX_DISTANCE_BYTES);
    let mut passed = 0;
    let mut at = at;
    while at < limit {
        match bytes[at] {
            quote @ (b'"' | b'\'' | b'`') => {
                let length = count_bytes_while(text, at + 1, |b| {
                    b != quote && !matches!(b, b'\n' | b'\r' | b'\\')
                });
                let range = at + 1..at + 1 + length;
                if passed == number {
                    if let Some(word) = text.get(range.clone())
                        && value::is_secret(word, SecretClass::Password, ValueContext::Quoted)
                    {
                        found.push(Finding::new("password", range, FindingRank::Place));
                    }
                    return;
                }
                // The backslash of an escaped quote belongs to it.
                at = range.end + usize::from(bytes.get(range.end) == Some(&b'\\'));
            }
            b',' => passed += 1,
            b')' | b';' | b'{' | b'}' => return,
            _ => {}
        }
        if passed > number {
            return;
        }
        at += 1;
    }
}

/// `machine HOST login USER password SECRET`, on one line or on several.
fn find_netrc_secret(text: &str, at: usize, found: &mut Vec<Finding>) {
    let limit = super::assign::floor_boundary(text.as_bytes(), at + MAX_DISTANCE_BYTES);
    let rest = text.get(at..limit).unwrap_or_default();
    let host = rest.split_whitespace().next().unwrap_or_default();
    let certain = host.contains(['.', '{', '$']) || host == "localhost";
    let mut login = false;
    let mut due = false;
    let mut offset = 0;
    for (count, piece) in rest
        .split_inclusive(|c: char| c.is_whitespace())
        .enumerate()
    {
        let word = piece.trim_end();
        let start = at + offset;
        offset += piece.len();
        if due && !word.is_empty() {
            let end = word.find("\\n").unwrap_or(word.len());
            let word = word[..end].trim_end_matches(['"', '\'', '\\']);
            let mixed = CharMix::from_text(word).digits > 0;
            if word.len() >= 4
                && (certain || mixed)
                && !value::stands_for_another(word)
                && !word.starts_with(['{', '$', '<'])
            {
                found.push(Finding::new(
                    "netrc",
                    start..start + word.len(),
                    FindingRank::Place,
                ));
            }
            return;
        }
        let word = word.rsplit("\\n").next().unwrap_or(word);
        login |= word == "login";
        due = login && word == "password";
        if count > 24 {
            return;
        }
    }
}

/// The line around a place.
fn find_line_range(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let floor = at.saturating_sub(MAX_DISTANCE_BYTES);
    let mut start = at;
    while start > floor
        && !bytes[start - 1].is_ascii_whitespace()
        && !matches!(bytes[start - 1], b'"' | b'\'' | b'`')
    {
        let escaped = start >= 2
            && bytes[start - 2] == b'\\'
            && matches!(bytes[start - 1], b'n' | b'r' | b't');
        if escaped {
            break;
        }
        start -= 1;
    }
    let length = count_bytes_while(text, at, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b'\\')
    });
    start..super::assign::floor_boundary(bytes, at + length.min(MAX_DISTANCE_BYTES))
}

fn find_pgpass_secret(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) {
    let range = find_line_range(text, hit.start);
    let Some(own) = text.get(range.clone()) else {
        return;
    };
    let parts: Vec<&str> = own.splitn(5, ':').collect();
    let [host, port, database, user, secret] = parts[..] else {
        return;
    };
    let port = port == "*" || port.bytes().all(|b| b.is_ascii_digit());
    let plain = |word: &str| {
        !word.is_empty()
            && (word == "*"
                || word
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))
    };
    if port
        && secret.bytes().any(|b| b.is_ascii_alphanumeric())
        && plain(host)
        && plain(database)
        && plain(user)
        && value::is_secret(secret, SecretClass::Password, ValueContext::Config)
    {
        found.push(Finding::new(
            "pgpass",
            range.end - secret.len()..range.end,
            FindingRank::Place,
        ));
    }
}

/// Hashes of passwords, which can be guessed at leisure.
fn find_password_hash(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) {
    let start = hit.start + 1;
    let length = count_bytes_while(text, start, |b| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'$' | b'.' | b'/' | b'=' | b',' | b'{' | b'}' | b'+' | b'-'
            )
    });
    if length >= 24 {
        found.push(Finding::new(
            "password-hash",
            start..start + length,
            FindingRank::Shape,
        ));
    }
}

fn find_identified_by_secret(text: &str, at: usize, found: &mut Vec<Finding>) {
    let mut at = at + count_bytes_while(text, at, |b| b.is_ascii_whitespace());
    at += count_bytes_while(text, at, |b| b == b'\\');
    let Some(quote @ (b'\'' | b'"')) = text.as_bytes().get(at).copied() else {
        return;
    };
    let length = count_bytes_while(text, at + 1, |b| b != quote && b != b'\n' && b != b'\\');
    let range = at + 1..at + 1 + length;
    // Prose quotes names this way, too; databases want single quotes.
    let place = if quote == b'\'' {
        ValueContext::Flag
    } else {
        ValueContext::Quoted
    };
    if let Some(word) = text.get(range.clone())
        && value::is_secret(word, SecretClass::Password, place)
    {
        found.push(Finding::new("password", range, FindingRank::Place));
    }
}

/// What is echoed to a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PipedInput {
    Whole,
    /// `user:SECRET`
    Pair,
}

/// `echo 'user:SECRET' | chpasswd`
fn find_piped_secret(text: &str, at: usize, form: PipedInput, found: &mut Vec<Finding>) {
    let floor = super::assign::floor_boundary(text.as_bytes(), at.saturating_sub(200));
    let before = text.get(floor..at).unwrap_or_default();
    let Some(echo) = before.rfind("echo ") else {
        return;
    };
    let at = floor + echo + 4;
    for range in (CommandWords {
        text,
        at,
        limit: text.len().min(at + MAX_DISTANCE_BYTES),
    }) {
        let clean = trim_quotes(text, range);
        let word = text.get(clean.clone()).unwrap_or_default();
        let secret = match form {
            PipedInput::Whole => Some(word),
            PipedInput::Pair => word.split_once(':').map(|(_, secret)| secret),
        };
        if let Some(secret) = secret
            && !secret.starts_with('-')
            && value::is_secret(secret, SecretClass::Password, ValueContext::Flag)
        {
            found.push(Finding::new(
                "password",
                clean.end - secret.len()..clean.end,
                FindingRank::Place,
            ));
        }
    }
}
