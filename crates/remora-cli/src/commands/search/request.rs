//! What the words and the flags ask for together. A flag wins over the same
//! filter among the words, and a note says so.

use remora_core::detail::DetailText;
use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind};
use remora_memory::ask::{ProjectSelection, SearchFilter, SearchInput, SearchInputError};
use remora_memory::store::Hit;
use remora_memory::words::Query;

use crate::args::{ProjectScopeArgs, SearchArgs};
use crate::commands::search::when::{self, TimeSpan};
use crate::error::CliError;

/// The query, with names and paths still as they were typed.
#[derive(Debug)]
pub(super) struct SearchRequest {
    pub(super) query: Query,
    pub(super) place: ProjectScopeArgs,
    pub(super) kinds: Vec<Kind>,
    pub(super) file: Option<String>,
    pub(super) span: TimeSpan,
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) error: Option<SearchInputError>,
    pub(super) notes: Vec<String>,
    /// The one project that must not be left.
    pub(super) own: Option<ProjectKey>,
}

impl SearchRequest {
    /// Whatever the words say of projects does not count.
    pub(super) fn stay_in(&mut self, own: &str) {
        if self.place.all || self.place.project.is_some() {
            let note = "only this project is searched, so `project:` does not count";
            self.notes.push(note.to_owned());
            // `project:` among the words must not lead out of the session's
            // project.
            self.place = ProjectScopeArgs::default();
        }
        self.own = Some(own.into());
    }

    pub(super) fn from_args(args: &SearchArgs) -> Result<Self, CliError> {
        let now = when::current_time();
        let ask = SearchInput::parse(&join_words(&args.words), |text| {
            when::parse_time_span(text, &now)
        });
        let flags = when::resolve_time_span(&args.span)?;
        let mut notes = ask.notes;
        let SearchFilter {
            file,
            kinds,
            project,
            since,
            until,
            session,
            agent,
            error,
        } = ask.filter;
        let mut wins = FlagPrecedence(&mut notes);
        let given = args.kind.iter().filter_map(|kind| Kind::parse(kind));
        let given = Some(given.collect()).filter(|kinds: &Vec<Kind>| !kinds.is_empty());
        let kinds = Some(kinds).filter(|kinds| !kinds.is_empty());
        let span = TimeSpan {
            since: wins.prefer_flag("--since", "since:", flags.since, since),
            until: wins.prefer_flag("--until", "until:", flags.until, until),
        };
        let asked = Self {
            query: ask.query,
            kinds: wins
                .prefer_flag("--kind", "kind:", given, kinds)
                .unwrap_or_default(),
            file: wins.prefer_flag("--file", "file:", args.file.clone(), file),
            session: wins.prefer_flag("--session", "session:", args.session.clone(), session),
            agent: wins.prefer_flag("--agent", "agent:", args.agent.clone(), agent),
            place: resolve_project_scope(&args.place, project, &mut wins),
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

    /// Items that bear the error's own name come first.
    pub(super) fn sort(&self, hits: &mut [Hit]) {
        if let Some(error) = &self.error {
            // Stable: within both groups the ranking stays.
            hits.sort_by_key(|hit| !is_of(&hit.item, error));
        }
    }
}

fn is_of(item: &Item, error: &SearchInputError) -> bool {
    let named = item.detail_text(DetailText::Fingerprint);
    named.is_some_and(|name| error.fingerprints.iter().any(|print| print.id == name))
}

struct FlagPrecedence<'n>(&'n mut Vec<String>);

impl FlagPrecedence<'_> {
    /// What the flag says, else what the words say.
    fn prefer_flag<T: PartialEq>(
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

fn resolve_project_scope(
    given: &ProjectScopeArgs,
    typed: Option<ProjectSelection>,
    wins: &mut FlagPrecedence<'_>,
) -> ProjectScopeArgs {
    let (flag, given) = match (given.all, &given.project) {
        (true, _) => ("--all", Some(ProjectSelection::All)),
        (_, project) => ("--project", project.clone().map(ProjectSelection::Named)),
    };
    match wins.prefer_flag(flag, "project:", given, typed) {
        None => ProjectScopeArgs::default(),
        Some(ProjectSelection::All) => ProjectScopeArgs {
            all: true,
            project: None,
        },
        Some(ProjectSelection::Named(name)) => ProjectScopeArgs {
            all: false,
            project: Some(name),
        },
    }
}

/// The words as one text. A shell takes the quotes away from `file:"a b"` and
/// `-"a b"`; when there are several words, the blanks show where they were.
fn join_words(words: &[String]) -> String {
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
