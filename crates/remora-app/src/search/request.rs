//! What the words and the fields of a request ask for together. A field wins over
//! the same filter among the words, and a note says so.

use std::fmt;

use remora_core::detail::DetailText;
use remora_core::record::{Item, Kind};
use remora_memory::ask::{ProjectSelection, SearchFilter, SearchInput, SearchInputError};
use remora_memory::store::Hit;
use remora_memory::words::Query;
use serde::{Serialize, Serializer};

use super::SearchRequest;
use crate::app::App;
use crate::error::{AppError, RequestField, Result};
use crate::scope::ProjectChoice;
use crate::time_span::{EMPTY_TIME_SPAN_MESSAGE, TimeSpan, parse_time_span};

/// What there is to say about how a request was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchNote {
    /// A field of the request and a filter among the words: the field counts.
    FieldWins(RequestField),
    /// The caller may search one project only.
    OwnProjectOnly,
    /// Anything else, in words.
    Words(String),
}

impl fmt::Display for SearchNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldWins(field) => {
                let filter = match field {
                    RequestField::All => RequestField::Project,
                    other => *other,
                };
                let (field, filter) = (field.name(), filter.name());
                write!(f, "{field} is given, so `{filter}:` does not count")
            }
            Self::OwnProjectOnly => {
                f.write_str("only this project is searched, so `project:` does not count")
            }
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl Serialize for SearchNote {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The query, with names and paths still as they were typed.
#[derive(Debug)]
pub(super) struct ParsedSearch {
    pub(super) query: Query,
    pub(super) project: ProjectChoice,
    pub(super) kinds: Vec<Kind>,
    pub(super) file: Option<String>,
    pub(super) span: TimeSpan,
    pub(super) session: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) error: Option<SearchInputError>,
    pub(super) notes: Vec<SearchNote>,
}

impl ParsedSearch {
    /// Whatever the words say of projects does not count.
    pub(super) fn stay_here(&mut self) {
        if std::mem::take(&mut self.project) != ProjectChoice::Here {
            self.notes.push(SearchNote::OwnProjectOnly);
        }
    }

    pub(super) fn from_request(app: &App, request: &SearchRequest) -> Result<Self> {
        let now = app.clock.now();
        let ask = SearchInput::parse(&request.query, |text| parse_time_span(text, &now));
        let fields = request.span.resolve(&now)?;
        let mut notes = ask.notes.into_iter().map(SearchNote::Words).collect();
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
        let mut wins = FieldPrecedence(&mut notes);
        let given = Some(request.kinds.clone()).filter(|kinds| !kinds.is_empty());
        let kinds = Some(kinds).filter(|kinds| !kinds.is_empty());
        let span = TimeSpan {
            since: wins.prefer(RequestField::Since, fields.since, since),
            until: wins.prefer(RequestField::Until, fields.until, until),
        };
        let parsed = Self {
            query: ask.query,
            kinds: wins
                .prefer(RequestField::Kind, given, kinds)
                .unwrap_or_default(),
            file: wins.prefer(RequestField::File, request.file.clone(), file),
            session: wins.prefer(RequestField::Session, request.session.clone(), session),
            agent: wins.prefer(RequestField::Agent, request.agent.clone(), agent),
            project: choose_project(&request.project, project, &mut wins),
            span,
            error,
            notes,
        };
        if span.is_empty() {
            return Err(AppError::bad_request(EMPTY_TIME_SPAN_MESSAGE));
        }
        Ok(parsed)
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

struct FieldPrecedence<'n>(&'n mut Vec<SearchNote>);

impl FieldPrecedence<'_> {
    /// What the field says, else what the words say.
    fn prefer<T: PartialEq>(
        &mut self,
        field: RequestField,
        given: Option<T>,
        typed: Option<T>,
    ) -> Option<T> {
        match (given, typed) {
            (Some(given), Some(typed)) => {
                if given != typed {
                    self.0.push(SearchNote::FieldWins(field));
                }
                Some(given)
            }
            (given, typed) => given.or(typed),
        }
    }
}

fn choose_project(
    given: &ProjectChoice,
    typed: Option<ProjectSelection>,
    wins: &mut FieldPrecedence<'_>,
) -> ProjectChoice {
    let field = match given {
        ProjectChoice::All => RequestField::All,
        ProjectChoice::Here | ProjectChoice::Named(_) => RequestField::Project,
    };
    let given = Some(given.clone()).filter(|given| *given != ProjectChoice::Here);
    let typed = typed.map(|typed| match typed {
        ProjectSelection::All => ProjectChoice::All,
        ProjectSelection::Named(name) => ProjectChoice::Named(name),
    });
    wins.prefer(field, given, typed).unwrap_or_default()
}
