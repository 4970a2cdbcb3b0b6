//! Passwords in sentences that are not English, and a user with a password in
//! sentences that are.

use std::ops::Range;

use super::header::count_bytes_while;
use super::names::SecretClass;
use super::shape::CharMix;
use super::value::{self, ValueContext};
use super::{Finding, FindingRank};

/// What a password is called; compared without the case of ASCII letters.
pub(super) const PASSWORD_WORDS: &[&str] = &[
    "passwort",
    "kennwort",
    "mot de passe",
    "contraseña",
    "contrasena",
    "clave",
    "senha",
    "palavra-passe",
    "wachtwoord",
    "lösenord",
    "adgangskode",
    "passord",
    "salasana",
    "hasło",
    "heslo",
    "jelszó",
    "parola",
    "parolă",
    "şifre",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "κωδικός",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "암호",
    "mật khẩu",
    "รหัสผ่าน",
    "كلمة المرور",
    "סיסמה",
    "पासवर्ड",
];

/// What comes before a user and a password.
pub(super) const LOGIN_PHRASES: &[&str] = &[
    "log in with ",
    "login with ",
    "log in as ",
    "login as ",
    "sign in with ",
    "credentials are ",
    "credentials: ",
    "login: ",
    "user/password: ",
    "user/pass: ",
    "username/password: ",
];

/// Verbs between the name and the password.
const LINKING_VERBS: &[&str] = &[
    "ist", "lautet", "heißt", "war", "wäre", "est", "es", "era", "é", "è", "era", "is", "är", "er",
    "on", "to", "jest", "je", "este", "olan",
];

/// Signs and, where words are not set apart, the particles.
const SEPARATORS: &[&str] = &[
    ":", "：", "=", "＝", "是", "为", "為", "は", "が", "은", "는", "이", "가", "→", "–", "—",
];

/// How far behind the name the password may begin.
const MAX_DISTANCE_BYTES: usize = 96;
/// How many words may stand between.
const MAX_GAP_WORDS: usize = 6;

/// Looks behind the word for a password, and says how far it has read.
pub(super) fn find_password(text: &str, hit: Range<usize>, found: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    // `passwortlänge`, `senhas`: another word.
    if bytes[hit.end - 1].is_ascii_alphabetic()
        && bytes
            .get(hit.end)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    {
        return 0;
    }
    let limit = super::assign::floor_boundary(bytes, hit.end + MAX_DISTANCE_BYTES);
    let mut at = hit.end;
    for _ in 0..MAX_GAP_WORDS {
        at += count_bytes_while(text, at, |b| b == b' ').min(4);
        let Some(rest) = text.get(at..limit) else {
            return at;
        };
        if let Some(sign) = SEPARATORS.iter().find(|sign| rest.starts_with(**sign)) {
            return find_stated_password(text, at + sign.len(), found);
        }
        // "密码 SECRET": with nothing between, it must look like nothing else.
        if at > hit.end && rest.starts_with(|c: char| c.is_ascii_graphic()) {
            // Weaker evidence than a verb or a sign, so the word must be
            // stronger.
            let read = find_bare_password(text, at, found);
            if read > at {
                return read;
            }
        }
        let word = rest
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(rest.len());
        if word == 0 {
            return at;
        }
        at += word;
        if LINKING_VERBS.contains(&&rest[..word]) {
            return find_stated_password(text, at, found);
        }
    }
    at
}

/// Adds the word that begins here, if it is one that no sentence holds, and says
/// where it ends.
fn find_bare_password(text: &str, at: usize, found: &mut Vec<Finding>) -> usize {
    let length = count_bytes_while(text, at, |b| {
        b.is_ascii_alphanumeric() || b"!%^*_+#$&".contains(&b)
    });
    let word = text.get(at..at + length).unwrap_or_default();
    let mix = CharMix::from_text(word);
    let strong = mix.digits > 1 && mix.upper > 1 && mix.lower > 1;
    if strong && value::is_secret(word, SecretClass::Password, ValueContext::Said) {
        found.push(Finding::new(
            "password",
            at..at + length,
            FindingRank::Place,
        ));
        return at + length;
    }
    at
}

/// Adds the value that begins here, if it is a password, and says where it ends.
fn find_stated_password(text: &str, at: usize, found: &mut Vec<Finding>) -> usize {
    const OPENING_MARKS: &[char] = &[
        ' ', '"', '\'', '`', '「', '『', '“', '”', '„', '‘', '’', '«', '‹', '*', '（', '【',
    ];
    let Some(rest) = text.get(at..) else {
        return at;
    };
    let lead: usize = rest
        .chars()
        .take(6)
        .take_while(|c| OPENING_MARKS.contains(c) || *c == '\\')
        .map(char::len_utf8)
        .sum();
    let start = at + lead;
    let length = count_bytes_while(text, start, |b| {
        b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'\\')
    });
    let Some(word) = text.get(start..start + length) else {
        return start;
    };
    let word = word.trim_end_matches(['.', ',', ';', ':', '?', ')', '*']);
    if value::is_secret(word, SecretClass::Password, ValueContext::Said) {
        let range = start..start + word.len();
        found.push(Finding::new("password", range, FindingRank::Place));
    }
    start + length
}

/// `admin / SECRET` and `admin:SECRET`.
pub(super) fn find_login_password(text: &str, at: usize, found: &mut Vec<Finding>) {
    let start =
        at + count_bytes_while(text, at, |b| matches!(b, b'`' | b'"' | b'\'' | b' ')).min(4);
    let user = count_bytes_while(text, start, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'@' | b'-')
    });
    // Longer than any user name: it is a path or a sentence.
    if !(2..=48).contains(&user) {
        return;
    }
    let at =
        start + user + count_bytes_while(text, start + user, |b| matches!(b, b' ' | b'`')).min(2);
    if !matches!(text.as_bytes().get(at), Some(b'/' | b':')) {
        return;
    }
    find_stated_password(text, at + 1, found);
}
