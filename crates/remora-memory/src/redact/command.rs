//! Secrets in the arguments of known tools, and in the lines of files that
//! hold nothing but credentials.

use std::ops::Range;

use super::header::run;
use super::names::Class;
use super::shape::{self, Mix};
use super::value::{self, Place};
use super::{Finding, Rank};

/// What a word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// `-pSECRET`, joined to the flag.
    Mysql,
    /// `-p SECRET`, apart or joined.
    ShortPassword,
    /// `-u user:SECRET`.
    UserAndPassword,
    /// `-a SECRET`.
    ShortAuth,
    /// `-w SECRET`
    ShortWord,
    /// `user:password@host:path`, `machine .. login .. password ..`
    Netrc,
    /// `host:port:database:user:SECRET`
    Pgpass,
    /// `user:$apr1$..`
    Crypt,
    /// `IDENTIFIED BY 'SECRET'`
    Identified,
    /// `user:password` for `chpasswd`.
    Chpasswd,
    /// `requirepass SECRET`
    NextWord,
    /// `echo SECRET | sudo -S`
    Sudo,
}

/// Words that announce them, compared without case.
pub(super) const WORDS: &[(&str, Tool)] = &[
    ("mysql", Tool::Mysql),
    ("mariadb", Tool::Mysql),
    ("mysqldump", Tool::Mysql),
    ("sshpass", Tool::ShortPassword),
    ("docker login", Tool::ShortPassword),
    ("podman login", Tool::ShortPassword),
    ("helm registry login", Tool::ShortPassword),
    ("oc login", Tool::ShortPassword),
    ("az login", Tool::ShortPassword),
    ("mongosh", Tool::ShortPassword),
    ("mongo ", Tool::ShortPassword),
    ("mongodump", Tool::ShortPassword),
    ("curl", Tool::UserAndPassword),
    ("http ", Tool::ShortAuth),
    ("redis-cli", Tool::ShortAuth),
    ("ldapsearch", Tool::ShortWord),
    ("machine ", Tool::Netrc),
    (":5432:", Tool::Pgpass),
    (":5433:", Tool::Pgpass),
    (":6432:", Tool::Pgpass),
    (":*:", Tool::Pgpass),
    (":$apr1$", Tool::Crypt),
    (":$2y$", Tool::Crypt),
    (":$2a$", Tool::Crypt),
    (":$2b$", Tool::Crypt),
    (":$1$", Tool::Crypt),
    (":$5$", Tool::Crypt),
    (":$6$", Tool::Crypt),
    (":$y$", Tool::Crypt),
    (":{SHA}", Tool::Crypt),
    ("identified by", Tool::Identified),
    ("with password", Tool::Identified),
    ("chpasswd", Tool::Chpasswd),
    ("requirepass ", Tool::NextWord),
    ("sudo -S", Tool::Sudo),
    ("masterauth ", Tool::NextWord),
];

/// How far behind the tool's name its arguments are looked for.
pub(super) const REACH: usize = 600;

/// Looks at the place where the word stands.
pub(super) fn secrets(text: &str, hit: Range<usize>, tool: Tool, found: &mut Vec<Finding>) {
    match tool {
        Tool::Mysql => flags(text, hit.end, found, |flag| flag.strip_prefix("-p")),
        Tool::ShortPassword => {
            flags(text, hit.end, found, |flag| flag.strip_prefix("-p"));
            next(text, hit.end, &["-p"], Class::Password, found);
        }
        Tool::UserAndPassword => pair(
            text,
            hit.end,
            &["-u", "--user", "-U", "--proxy-user"],
            found,
        ),
        Tool::ShortAuth => {
            pair(text, hit.end, &["-a", "--auth"], found);
            next(text, hit.end, &["-a"], Class::Password, found);
        }
        Tool::ShortWord => next(text, hit.end, &["-w"], Class::Password, found),
        Tool::Netrc => netrc(text, hit.end, found),
        Tool::Pgpass => pgpass(text, hit, found),
        Tool::Crypt => crypt(text, hit, found),
        Tool::Identified => identified(text, hit.end, found),
        Tool::Chpasswd => piped(text, hit.start, Piped::Pair, found),
        Tool::Sudo => {
            piped(text, hit.start, Piped::Whole, found);
            next(text, hit.end, &["<<<"], Class::Password, found);
        }
        Tool::NextWord => {
            let length = run(text, hit.end, |b| !b.is_ascii_whitespace() && b != b'\\');
            judge(text, hit.end..hit.end + length, Class::Password, found);
        }
    }
}

/// A secret key that stands close behind its id.
pub(super) fn aws_pair(text: &str, at: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(at + 160);
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let mut start = at;
    while start < limit {
        let length = run(text, start, part);
        if length == 40
            && text.get(start..start + 40).is_some_and(|word| {
                let mix = Mix::of(word);
                mix.upper > 2 && mix.lower > 2 && mix.digits > 0 && !shape::path(word)
            })
        {
            found.push(Finding::new(
                "aws-secret-key",
                start..start + 40,
                Rank::Shape,
            ));
            return;
        }
        start += length.max(1);
    }
}

/// The words of a command from here to its end, as the shell would split them,
/// near enough.
struct Words<'a> {
    text: &'a str,
    at: usize,
    limit: usize,
}

impl Iterator for Words<'_> {
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
        Some(start..super::assign::floor(bytes, self.at))
    }
}

fn words(text: &str, at: usize) -> Words<'_> {
    let mut at = at;
    // The rest of the tool's own name, such as `mysqladmin`.
    at += run(text, at, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')
    });
    Words {
        text,
        at,
        limit: text.len().min(at + REACH),
    }
}

/// The range without quotes, escaped or not, around it.
fn unquoted(text: &str, range: Range<usize>) -> Range<usize> {
    let Some(word) = text.get(range.clone()) else {
        return range;
    };
    let inner = word.trim_start_matches(['\\', '"', '\'']);
    let start = range.end - inner.len();
    let inner = inner.trim_end_matches(['"', '\'', '\\']);
    start..start + inner.len()
}

fn judge(text: &str, range: Range<usize>, class: Class, found: &mut Vec<Finding>) {
    let range = unquoted(text, range);
    if let Some(word) = text.get(range.clone())
        && value::secret(word, class, Place::Flag)
    {
        found.push(Finding::new("password", range, Rank::Place));
    }
}

/// Flags with the secret joined to them.
fn flags(text: &str, at: usize, found: &mut Vec<Finding>, strip: impl Fn(&str) -> Option<&str>) {
    for range in words(text, at) {
        let word = text.get(range.clone()).unwrap_or_default();
        if let Some(rest) = strip(word).filter(|rest| !rest.is_empty() && !rest.starts_with('=')) {
            // `-p3306` is a port somewhere else, and no password here.
            if !rest.bytes().all(|b| b.is_ascii_digit()) {
                judge(
                    text,
                    range.end - rest.len()..range.end,
                    Class::Password,
                    found,
                );
            }
        }
    }
}

/// Flags with the secret as the next word.
fn next(text: &str, at: usize, names: &[&str], class: Class, found: &mut Vec<Finding>) {
    let mut due = false;
    for range in words(text, at) {
        let word = text.get(range.clone()).unwrap_or_default();
        if due && !word.starts_with('-') {
            judge(text, range, class, found);
            due = false;
        } else {
            due = names.contains(&word);
        }
    }
}

/// Flags with `user:SECRET` joined to them or as the next word.
fn pair(text: &str, at: usize, names: &[&str], found: &mut Vec<Finding>) {
    let mut due = false;
    for range in words(text, at) {
        let word = text.get(range.clone()).unwrap_or_default();
        let joined = names.iter().find_map(|name| {
            let rest = word.strip_prefix(name)?;
            let rest = rest.strip_prefix('=').unwrap_or(rest);
            (!rest.is_empty() && (name.len() == 2 || word.contains('='))).then_some(rest)
        });
        let both = if due { Some(word) } else { joined };
        due = names.contains(&word);
        let Some(both) = both else {
            continue;
        };
        let clean = unquoted(text, range.end - both.len()..range.end);
        let inner = text.get(clean.clone()).unwrap_or_default();
        if let Some((_, secret)) = inner.split_once(':')
            && !secret.is_empty()
            && !inner.contains("://")
            && value::secret(secret, Class::Password, Place::Flag)
        {
            found.push(Finding::new(
                "password",
                clean.end - secret.len()..clean.end,
                Rank::Place,
            ));
        } else if let Some(user) = inner.strip_suffix(':')
            && shape::random(user)
        {
            found.push(Finding::new(
                "token",
                clean.start..clean.end - 1,
                Rank::Place,
            ));
        }
    }
}

/// `machine HOST login USER password SECRET`, on one line or on several.
fn netrc(text: &str, at: usize, found: &mut Vec<Finding>) {
    let limit = super::assign::floor(text.as_bytes(), at + REACH);
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
            let mixed = Mix::of(word).digits > 0;
            if word.len() >= 4
                && (certain || mixed)
                && !value::stands_for_another(word)
                && !word.starts_with(['{', '$', '<'])
            {
                found.push(Finding::new(
                    "netrc",
                    start..start + word.len(),
                    Rank::Place,
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
fn line(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let floor = at.saturating_sub(REACH);
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
    let length = run(text, at, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b'\\')
    });
    start..super::assign::floor(bytes, at + length.min(REACH))
}

fn pgpass(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) {
    let range = line(text, hit.start);
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
        && value::secret(secret, Class::Password, Place::Config)
    {
        found.push(Finding::new(
            "pgpass",
            range.end - secret.len()..range.end,
            Rank::Place,
        ));
    }
}

/// Hashes of passwords, which can be guessed at leisure.
fn crypt(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) {
    let start = hit.start + 1;
    let length = run(text, start, |b| {
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
            Rank::Shape,
        ));
    }
}

fn identified(text: &str, at: usize, found: &mut Vec<Finding>) {
    let mut at = at + run(text, at, |b| b.is_ascii_whitespace());
    at += run(text, at, |b| b == b'\\');
    let Some(quote @ (b'\'' | b'"')) = text.as_bytes().get(at).copied() else {
        return;
    };
    let length = run(text, at + 1, |b| b != quote && b != b'\n' && b != b'\\');
    let range = at + 1..at + 1 + length;
    // Prose quotes names this way, too; databases want single quotes.
    let place = if quote == b'\'' {
        Place::Flag
    } else {
        Place::Quoted
    };
    if let Some(word) = text.get(range.clone())
        && value::secret(word, Class::Password, place)
    {
        found.push(Finding::new("password", range, Rank::Place));
    }
}

/// What is echoed to a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piped {
    Whole,
    /// `user:SECRET`
    Pair,
}

/// `echo 'user:SECRET' | chpasswd`
fn piped(text: &str, at: usize, form: Piped, found: &mut Vec<Finding>) {
    let floor = super::assign::floor(text.as_bytes(), at.saturating_sub(200));
    let before = text.get(floor..at).unwrap_or_default();
    let Some(echo) = before.rfind("echo ") else {
        return;
    };
    for range in words(text, floor + echo + 5) {
        let clean = unquoted(text, range);
        let word = text.get(clean.clone()).unwrap_or_default();
        let secret = match form {
            Piped::Whole => Some(word),
            Piped::Pair => word.split_once(':').map(|(_, secret)| secret),
        };
        if let Some(secret) = secret
            && !secret.starts_with('-')
            && value::secret(secret, Class::Password, Place::Flag)
        {
            found.push(Finding::new(
                "password",
                clean.end - secret.len()..clean.end,
                Rank::Place,
            ));
        }
    }
}
