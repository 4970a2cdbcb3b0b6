//! What the words and the flags ask for together. A flag wins over the same
//! filter among the words, and a note says so.

use remora_memory::ask::{Ask, AskError, AskFilter, Projects};
use remora_memory::store::Hit;
use remora_memory::words::Query;
use remora_protocol::record::{Item, Kind};

use crate::args::{Search, Where};
use crate::commands::search::when::{self, Span};
use crate::error::CliError;

/// The question, with names and paths still as they were given.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) query: Query,
    pub(super) place: Where,
    pub(super) kinds: Vec<Kind>,
    pub(super) file: Option<String>,
    pub(super) span: Span,
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) error: Option<AskError>,
    pub(super) notes: Vec<String>,
    /// The one project that must not be left.
    pub(super) own: Option<String>,
}

impl Asked {
    /// Whatever the words say of projects does not count.
    pub(super) fn stay_in(&mut self, own: &str) {
        if self.place.all || self.place.project.is_some() {
            let note = "only this project is searched, so `project:` does not count";
            self.notes.push(note.to_owned());
            self.place = Where::default();
        }
        self.own = Some(own.to_owned());
    }

    pub(super) fn read(args: &Search) -> Result<Self, CliError> {
        let now = when::now();
        let ask = Ask::parse(&text(&args.words), |text| when::read(text, &now));
        let flags = when::span(&args.span)?;
        let mut notes = ask.notes;
        let AskFilter {
            file,
            kinds,
            project,
            since,
            until,
            session,
            agent,
            error,
        } = ask.filter;
        let mut wins = Wins(&mut notes);
        let given = args.kind.iter().filter_map(|kind| Kind::parse(kind));
        let given = Some(given.collect()).filter(|kinds: &Vec<Kind>| !kinds.is_empty());
        let kinds = Some(kinds).filter(|kinds| !kinds.is_empty());
        let span = Span {
            since: wins.over("--since", "since:", flags.since, since),
            until: wins.over("--until", "until:", flags.until, until),
        };
        let asked = Self {
            query: ask.query,
            kinds: wins
                .over("--kind", "kind:", given, kinds)
                .unwrap_or_default(),
            file: wins.over("--file", "file:", args.file.clone(), file),
            session: wins.over("--session", "session:", args.session.clone(), session),
            agent: wins.over("--agent", "agent:", args.agent.clone(), agent),
            place: place(&args.place, project, &mut wins),
            span,
            error,
            notes,
            own: None,
        };
        match (span.since, span.until) {
            (Some(since), Some(until)) if since >= until => Err(CliError::Usage(
                "since is later than until: nothing lies between them".to_owned(),
            )),
            _ => Ok(asked),
        }
    }

    /// Rows that bear the error's own name come first.
    pub(super) fn sort(&self, hits: &mut [Hit]) {
        if let Some(error) = &self.error {
            hits.sort_by_key(|hit| !is_of(&hit.item, error));
        }
    }
}

fn is_of(item: &Item, error: &AskError) -> bool {
    let detail = item.detail.as_ref();
    let named = detail.and_then(|detail| detail.get("fingerprint")?.as_str());
    named.is_some_and(|name| error.fingerprints.iter().any(|print| print.id == name))
}

struct Wins<'n>(&'n mut Vec<String>);

impl Wins<'_> {
    /// What the flag says, else what the words say.
    fn over<T: PartialEq>(
        &mut self,
        flag: &str,
        term: &str,
        given: Option<T>,
        typed: Option<T>,
    ) -> Option<T> {
        match (given, typed) {
            (Some(given), Some(typed)) => {
                if given != typed {
                    self.0
                        .push(format!("{flag} is given, so `{term}` does not count"));
                }
                Some(given)
            }
            (given, typed) => given.or(typed),
        }
    }
}

fn place(given: &Where, typed: Option<Projects>, wins: &mut Wins<'_>) -> Where {
    let (flag, given) = match (given.all, &given.project) {
        (true, _) => ("--all", Some(Projects::All)),
        (_, project) => ("--project", project.clone().map(Projects::Named)),
    };
    match wins.over(flag, "project:", given, typed) {
        None => Where::default(),
        Some(Projects::All) => Where {
            all: true,
            project: None,
        },
        Some(Projects::Named(name)) => Where {
            all: false,
            project: Some(name),
        },
    }
}

/// The words as one text. A shell takes the quotes away from `file:"a b"` and
/// `-"a b"`; when there are several words, the blanks tell where they were.
fn text(words: &[String]) -> String {
    if let [one] = words {
        return one.clone();
    }
    let whole = |word: &String| {
        let plain = word.trim_start();
        let bare = plain.contains(char::is_whitespace) && !plain.contains('"');
        // `--amend was used` and `-> x` leave nothing out.
        let without = plain
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        let named = ["file:", "project:"]
            .iter()
            .find(|start| plain.starts_with(**start))
            .map(|start| start.len());
        let end = if without { Some(1) } else { named };
        match end.filter(|_| bare) {
            Some(end) => format!("{}\"{}\"", &plain[..end], &plain[end..]),
            None => word.clone(),
        }
    };
    words.iter().map(whole).collect::<Vec<String>>().join(" ")
}
