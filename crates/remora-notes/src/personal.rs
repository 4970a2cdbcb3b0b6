//! Personal data, which does not belong into a repository: addresses, telephone
//! and account numbers, paths that name someone. Finds it and says what and
//! where, without repeating it. Pure.

#[cfg(test)]
mod tests;

use super::SecretFinder;

/// Names of home directories that identify no user.
const GENERIC_HOME_NAMES: &[&str] = &[
    "user",
    "users",
    "username",
    "name",
    "yourname",
    "your-name",
    "you",
    "me",
    "someone",
    "somebody",
    "dev",
    "runner",
    "ubuntu",
    "vscode",
    "node",
    "app",
    "shared",
    "public",
    "default",
    "linuxbrew",
    "runneradmin",
    "docker",
    "vagrant",
    "foo",
    "bar",
    "example",
    "test",
    "xxx",
];

/// Mailboxes of machines, and placeholder names.
const GENERIC_MAILBOXES: &[&str] = &[
    "git",
    "noreply",
    "no-reply",
    "donotreply",
    "example",
    "user",
    "someone",
    "you",
    "name",
    "foo",
    "bar",
];

/// Domains that are kept for examples.
const EXAMPLE_DOMAINS: &[&str] = &[
    "example.com",
    "example.org",
    "example.net",
    "localhost",
    "noreply.github.com",
];

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonalDataFinding {
    /// What it is, in plain words.
    pub what: &'static str,
    /// Its line, from 1.
    pub line: usize,
}

/// Everything that keeps a text from being shared: secrets and personal data.
pub fn list_sharing_obstacles(text: &str, secrets: SecretFinder<'_>) -> Vec<String> {
    let mut reasons = secrets(text);
    for finding in find_personal_data(text) {
        let reason = format!("{} on line {}", finding.what, finding.line);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// Personal data in a text, line by line.
pub fn find_personal_data(text: &str) -> Vec<PersonalDataFinding> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let kinds = [
            ("an e-mail address", has_mail(line)),
            ("a path in someone's home", has_home(line)),
            ("a telephone number", has_phone(line)),
            ("a card number", has_card(line)),
            ("an account number", has_account(line)),
        ];
        let there = kinds.into_iter().filter(|(_, there)| *there);
        found.extend(there.map(|(what, _)| PersonalDataFinding { what, line: at + 1 }));
    }
    found
}

fn has_mail(line: &str) -> bool {
    line.match_indices('@').any(|(at, _)| {
        let before = &line[..at];
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-')))
            .map_or(0, |end| {
                end + before[end..].chars().next().map_or(1, char::len_utf8)
            });
        let user = before[start..].trim_start_matches(['.', '-']);
        let after = &line[at + 1..];
        let end = after
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-')))
            .unwrap_or(after.len());
        let domain = after[..end].trim_end_matches(['.', '-']);
        // `git@host:path` and `https://user@host/` are addresses of machines.
        let machine = after[end..].starts_with([':', '/']) || before[..start].ends_with("//");
        !user.is_empty() && !machine && is_domain(domain) && !is_no_ones(user, domain)
    })
}

fn is_domain(text: &str) -> bool {
    let Some((name, top)) = text.rsplit_once('.') else {
        return false;
    };
    // `lodash@4.17.21` and `left@pad.js` are packages and files.
    let known_file = matches!(
        top,
        "js" | "ts"
            | "md"
            | "rs"
            | "py"
            | "go"
            | "json"
            | "yml"
            | "yaml"
            | "toml"
            | "sh"
            | "txt"
            | "html"
            | "css"
    );
    !name.is_empty()
        && top.chars().count() >= 2
        && top.chars().all(char::is_alphabetic)
        && !known_file
}

fn is_no_ones(user: &str, domain: &str) -> bool {
    let (user, domain) = (user.to_lowercase(), domain.to_lowercase());
    GENERIC_MAILBOXES.contains(&user.as_str())
        || EXAMPLE_DOMAINS
            .iter()
            .any(|example| domain == *example || domain.ends_with(&format!(".{example}")))
        || matches!(
            domain.rsplit('.').next(),
            Some("example" | "test" | "invalid")
        )
}

fn has_home(line: &str) -> bool {
    line.split_whitespace().any(|word| {
        let word = word.replace('\\', "/");
        let address = word.find("://");
        ["/home/", "/Users/", "/users/"].iter().any(|homes| {
            word.match_indices(homes).any(|(at, _)| {
                let before = &word[..at];
                // Part of a longer path, such as `src/home/index.ts`; a drive is not.
                let inside = before.ends_with(|c: char| {
                    c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | ')' | '>')
                });
                // In a URL, or in small letters, it is a page such as `/users/login`.
                let page = address.is_some_and(|address| address < at)
                    || (homes.starts_with("/users") && !before.ends_with(':'));
                let rest = &word[at + homes.len()..];
                let end = rest
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')))
                    .unwrap_or(rest.len());
                let name = rest[..end].trim_end_matches('.').to_lowercase();
                !inside && !page && !name.is_empty() && !GENERIC_HOME_NAMES.contains(&name.as_str())
            })
        })
    })
}

/// A run of digits with the marks that writers put between them.
struct DigitRun<'a> {
    before: &'a str,
    text: &'a str,
    after: &'a str,
}

impl DigitRun<'_> {
    fn collect_digits(&self) -> Vec<u32> {
        self.text.chars().filter_map(|c| c.to_digit(10)).collect()
    }

    /// Neither part of a word, nor of a longer number.
    fn is_separate(&self) -> bool {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '=' | '/' | '@');
        !self.before.ends_with(part) && !self.after.starts_with(part)
    }
}

fn find_digit_runs<'a>(line: &'a str, joins: &'static [char]) -> Vec<DigitRun<'a>> {
    let mut found = Vec::new();
    let mut start: Option<usize> = None;
    let mut end = 0;
    let mut close = |start: &mut Option<usize>, end: usize| {
        if let Some(from) = start.take() {
            found.push(DigitRun {
                before: &line[..from],
                text: &line[from..end],
                after: &line[end..],
            });
        }
    };
    let mut last = ' ';
    let mut in_a_row = 0;
    for (at, letter) in line.char_indices() {
        let digit = letter.is_ascii_digit();
        let opens = start.is_none() && matches!(letter, '+' | '(');
        // Two marks may meet, as in `(030) 12`; a repeated one ends the number.
        let joined = start.is_some() && joins.contains(&letter) && in_a_row < 2 && letter != last;
        if digit || opens {
            start.get_or_insert(at);
            if digit {
                end = at + 1;
            }
            in_a_row = 0;
        } else if joined {
            in_a_row += 1;
        } else {
            close(&mut start, end);
        }
        if opens {
            end = at + 1;
        }
        last = letter;
    }
    close(&mut start, end);
    found
}

/// With a country in front, or in groups of three, three and four, or behind a
/// word that says so.
fn has_phone(line: &str) -> bool {
    let lower = line.to_lowercase();
    let said = [
        "phone", "tel:", "tel.", "mobile", "cell", "whatsapp", "call me", "fax",
    ]
    .iter()
    .any(|word| lower.contains(word));
    find_digit_runs(line, &[' ', '-', '.', '(', ')'])
        .iter()
        .any(|run| {
            let digits = run.collect_digits().len();
            let groups: Vec<usize> = run
                .text
                .split(|c: char| !c.is_ascii_digit())
                .map(str::len)
                .filter(|len| *len > 0)
                .collect();
            let abroad = run.text.starts_with('+') && (9..=15).contains(&digits);
            let grouped = matches!(groups.as_slice(), [3, 3, 4] | [1, 3, 3, 4])
                && !(run.text.contains('.') && run.text.contains(' '));
            let named = said
                && (9..=15).contains(&digits)
                && groups.iter().all(|len| *len <= 8 || groups.len() == 1);
            // A date or a time is no telephone.
            let date = matches!(groups.as_slice(), [4, 2, 2, ..]);
            run.is_separate() && !date && (abroad || grouped || named)
        })
}

fn has_card(line: &str) -> bool {
    find_digit_runs(line, &[' ', '-']).iter().any(|run| {
        let digits = run.collect_digits();
        let even = digits.iter().any(|digit| *digit != digits[0]);
        (14..=19).contains(&digits.len())
            && even
            && matches!(digits.first(), Some(3..=6))
            && run.is_separate()
            // Issue numbers and ids are long, too; the check digit keeps nine in ten of them out.
            && has_valid_luhn(&digits)
    })
}

/// The check digit of card numbers.
fn has_valid_luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (0, _) => *digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// An international bank account number, by its check digits.
fn has_account(line: &str) -> bool {
    let words: Vec<&str> = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    (0..words.len()).any(|at| {
        let first = words[at].as_bytes();
        let begins = first.len() >= 4
            && first[..2].iter().all(u8::is_ascii_uppercase)
            && first[2..4].iter().all(u8::is_ascii_digit);
        let mut joined = String::new();
        begins
            // Account numbers are printed in groups of four: at most 34 characters are nine groups.
            && words[at..].iter().take(9).any(|word| {
                joined.push_str(word);
                (15..=34).contains(&joined.len()) && is_account(&joined)
            })
    })
}

fn is_account(text: &str) -> bool {
    let upper = !text.contains(|c: char| c.is_ascii_lowercase());
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let turned = text[4..].chars().chain(text[..4].chars());
    let rest = turned
        .filter_map(|c| c.to_digit(36))
        .fold(0, |rest, value| {
            let shift = if value > 9 { 100 } else { 10 };
            (rest * shift + value) % 97
        });
    upper && digits >= 10 && rest == 1
}
