//! A commit's message as people write them: subject, body, trailers, marks of
//! pull requests and issues; and whether it says more than its subject.

/// Trailers that name people or machines, beside all that end in `-by`.
const TRAILER_NAMES: &[&str] = &[
    "cc",
    "change-id",
    "commit-queue",
    "git-svn-id",
    "reviewed-on",
    "signed-off",
];
/// How bodies begin that a program wrote about a new version of something.
const MACHINE_MADE_STARTS: &[&str] = &[
    "Bumps ",
    "Updates the requirements on ",
    "This PR contains the following updates",
];
/// Words that say what a commit does to an issue.
const CLOSING_WORDS: &[&str] = &[
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];
/// Words of a body that make a sentence, and those that do beside a reference.
const MIN_SENTENCE_WORDS: usize = 3;
const MIN_REFERENCE_SENTENCE_WORDS: usize = 2;
/// Letters that make one in a script without spaces.
const MIN_SENTENCE_LETTERS: usize = 8;
/// References that are named.
const MAX_REFERENCES: usize = 5;
/// How git says which commit one reverts.
const REVERT_PHRASE: &str = "this reverts commit";

/// What a message says, without what names people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitMessage {
    /// The subject, or the title of the pull request that a merge brought in.
    pub title: String,
    /// The body, as plain lines.
    pub text: String,
    /// What it reverts, and where it was discussed.
    pub facts: Vec<String>,
}

/// Reads a message; `None` when it says no more than its subject.
pub fn read_message(message: &str, is_merge: bool) -> Option<CommitMessage> {
    let mut lines = message.lines().map(plain_line);
    let subject = lines.by_ref().find(|line| !line.is_empty())?;
    let mut body = own_lines(lines);
    let mut title = subject.clone();
    let mut references = CommitReferences::default();
    references.read_subject(&subject);
    if let Some(number) = merged_request(&subject) {
        references.add_reference(format!("PR #{number}"));
        // The host's own subject says nothing; the next line is the title.
        if let Some(at) = body.iter().position(|line| !line.is_empty()) {
            title = body.drain(..=at).next_back().unwrap_or(subject);
        }
    }
    for line in &body {
        references.read_line(line);
    }
    let quoted = quoted_subject(&title).map(str::to_owned);
    let is_revert = quoted.is_some() || body.iter().any(|line| is_revert_line(line));
    // Which commit it was stands in a fact, and the hash in the item's detail.
    body.retain(|line| !is_revert_line(line));
    let words = count_words(&body);
    let least = if references.0.is_empty() || is_merge {
        MIN_SENTENCE_WORDS
    } else {
        MIN_REFERENCE_SENTENCE_WORDS
    };
    let first = body.iter().find(|line| !line.is_empty());
    let by_machine =
        first.is_some_and(|line| MACHINE_MADE_STARTS.iter().any(|b| line.starts_with(b)));
    if !is_revert && (words < least || by_machine) {
        return None;
    }
    let mut facts = Vec::new();
    facts.extend(quoted.map(|subject| format!("reverts {subject}")));
    facts.extend(references.0);
    Some(CommitMessage {
        title,
        text: join_lines(&body),
        facts,
    })
}

/// The hashes that a message says it reverts, as git writes it.
pub fn reverted_hashes(message: &str) -> Vec<String> {
    let mut hashes = Vec::new();
    for line in message.lines().filter(|line| is_revert_line(line)) {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric());
        for word in words.filter(|word| is_hash(word)) {
            hashes.push(word.to_ascii_lowercase());
        }
    }
    hashes.truncate(MAX_REFERENCES);
    hashes
}

fn is_hash(word: &str) -> bool {
    let hex = word.bytes().all(|b| b.is_ascii_hexdigit());
    hex && (7..=64).contains(&word.len()) && word.bytes().any(|b| b.is_ascii_digit())
}

/// "This partially reverts" leaves something of it.
fn is_revert_line(line: &str) -> bool {
    let start = line.trim_start().get(..REVERT_PHRASE.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(REVERT_PHRASE))
}

/// The subject of the commit that a title says it takes back.
pub(super) fn quoted_subject(title: &str) -> Option<&str> {
    let quoted = title.strip_prefix("Revert \"")?;
    let end = quoted.rfind('"')?;
    Some(&quoted[..end]).filter(|subject| !subject.is_empty())
}

/// A line without what moves a cursor, and without its end.
fn plain_line(line: &str) -> String {
    let is_kept = |c: &char| *c == '\t' || !c.is_control();
    let line: String = line.chars().filter(is_kept).collect();
    line.trim_end().to_owned()
}

/// The lines of a body without trailers, and without git's list of conflicts.
fn own_lines(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut own: Vec<String> = Vec::new();
    let mut is_in_trailer = false;
    let mut is_in_conflicts = false;
    for line in lines {
        let is_continued = line.starts_with([' ', '\t']);
        if is_in_conflicts && !line.is_empty() && (is_continued || line.starts_with('#')) {
            continue;
        }
        is_in_conflicts = ["Conflicts:", "# Conflicts:"].contains(&line.as_str());
        is_in_trailer = is_trailer(&line) || is_in_trailer && is_continued;
        if !is_in_trailer && !is_in_conflicts {
            own.push(line);
        }
    }
    own
}

fn is_trailer(line: &str) -> bool {
    let Some((token, _)) = line.split_once(':') else {
        return false;
    };
    let token = token.to_ascii_lowercase();
    let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-';
    token.chars().all(is_token)
        && (token.ends_with("-by") || TRAILER_NAMES.contains(&token.as_str()))
}

fn join_lines(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        if line.is_empty() && (text.is_empty() || text.ends_with("\n\n")) {
            continue;
        }
        text.push_str(line);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// Words that say something; a run of a script without spaces counts as a
/// sentence when it is long enough for one.
fn count_words(lines: &[String]) -> usize {
    let mut words = 0;
    let mut letters = 0;
    for line in lines {
        for word in line.split_whitespace() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
            let is_link = word.contains("://") || word.contains('#');
            let is_closing = CLOSING_WORDS.contains(&word.to_ascii_lowercase().as_str());
            if !is_link && !is_closing && word.chars().any(char::is_alphabetic) {
                words += 1;
            }
            letters += word
                .chars()
                .filter(|c| !c.is_ascii() && c.is_alphabetic())
                .count();
        }
    }
    if letters >= MIN_SENTENCE_LETTERS {
        words.max(MIN_SENTENCE_WORDS)
    } else {
        words
    }
}

/// The number in `Merge pull request #12 from …`.
fn merged_request(subject: &str) -> Option<&str> {
    number_after(subject.strip_prefix("Merge pull request ")?, '#')
}

fn number_after(text: &str, sign: char) -> Option<&str> {
    let text = text.strip_prefix(sign)?;
    let end = text.find(|c: char| !c.is_ascii_digit());
    let number = &text[..end.unwrap_or(text.len())];
    (1..=9).contains(&number.len()).then_some(number)
}

/// Where a commit was discussed, each once.
#[derive(Debug, Default)]
struct CommitReferences(Vec<String>);

impl CommitReferences {
    fn add_reference(&mut self, reference: String) {
        if self.0.len() < MAX_REFERENCES && !self.0.contains(&reference) {
            self.0.push(reference);
        }
    }

    /// Squash merges end in the number of their pull request.
    fn read_subject(&mut self, subject: &str) {
        let number = subject
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once('('))
            .filter(|(_, number)| {
                number_after(number, '#').is_some_and(|n| n.len() + 1 == number.len())
            });
        if let Some((_, number)) = number {
            self.add_reference(format!("PR {number}"));
        } else {
            self.read_line(subject);
        }
    }

    /// Issues that are closed, and links.
    fn read_line(&mut self, line: &str) {
        let mut is_closing = false;
        for word in line.split_whitespace() {
            let word = word.trim_matches(|c: char| "()[]<>,.;:\"'".contains(c));
            if word.contains("://") {
                self.read_link(word);
            } else if let Some((place, number)) = word.rsplit_once('#')
                && is_closing
                && !number.is_empty()
                && number.len() <= 9
                && number.bytes().all(|b| b.is_ascii_digit())
            {
                self.add_reference(format!("closes {place}#{number}"));
                // `Fixes #1, #2`
                continue;
            } else if let Some(number) = word.rsplit_once('!').map(|(_, number)| number)
                && line.starts_with("See merge request ")
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
            {
                self.add_reference(format!("MR !{number}"));
            }
            is_closing = CLOSING_WORDS.contains(&word.to_ascii_lowercase().as_str())
                || is_closing && word.eq_ignore_ascii_case("and");
        }
    }

    fn read_link(&mut self, link: &str) {
        for (part, label) in [
            ("/pull/", "PR #"),
            ("/merge_requests/", "MR !"),
            ("/issues/", "issue #"),
        ] {
            if let Some((_, rest)) = link.split_once(part) {
                let end = rest.find(|c: char| !c.is_ascii_digit());
                let number = &rest[..end.unwrap_or(rest.len())];
                if (1..=9).contains(&number.len()) {
                    self.add_reference(format!("{label}{number}"));
                }
            }
        }
    }
}
