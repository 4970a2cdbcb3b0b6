//! Words in, items out, best first.

mod request;
mod snippet;
mod strength;

use std::time::Instant;

use remora_core::ids::{AgentId, ItemUid, ProjectKey, SessionId};
use remora_core::record::{Item, Kind};
use remora_core::time::format_rfc3339;
use remora_memory::commit::reverted_by;
use remora_memory::end_date::item_ended_on;
use remora_memory::store::{FileMatch, Filter, Hit, Store};
use remora_memory::words::Query;
use serde::Serialize;

use crate::access::ReadLimits;
use crate::app::App;
use crate::error::Result;
use crate::parts::NamedParts;
use crate::rejections::{RejectionView, Rejections};
use crate::scope::{self, ProjectChoice};
use crate::successors::{SuccessorView, Successors};
use crate::tier::{self, SearchTier};
use crate::time_span::TimeSpanRequest;
use request::ParsedSearch;
pub use request::SearchNote;
use snippet::MAX_SNIPPET_CHARS;
pub use snippet::{SearchTerms, Snippet, build_snippet};
use strength::keep_strong;

/// Hits elsewhere are counted up to this.
pub const MAX_COUNTED_HITS: usize = 100;

/// What is searched for.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// The words, with filters among them; none list the newest.
    pub query: String,
    /// In which projects.
    pub project: ProjectChoice,
    /// Only these kinds; empty means all.
    pub kinds: Vec<Kind>,
    /// Only what read or changed this file, or a file in this folder.
    pub file: Option<String>,
    /// Only this time.
    pub span: TimeSpanRequest,
    /// Only this session, by the beginning of its id.
    pub session: Option<String>,
    /// Only this agent.
    pub agent: Option<String>,
    /// How many results at most.
    pub limit: usize,
    /// How thorough.
    pub tier: SearchTier,
    /// Which of what was found is returned.
    pub keep: KeptHits,
    /// Whether each result says what its score is made of.
    pub parts: ScoreDetail,
}

/// Which hits are returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeptHits {
    /// As many as were asked for: a program sees by itself what is of use.
    #[default]
    All,
    /// What is worth reading.
    Strong,
}

/// What is said of a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScoreDetail {
    /// The sum.
    #[default]
    Sum,
    /// Also its parts.
    Parts,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct SearchResponse {
    /// How long it took, in milliseconds.
    pub ms: f64,
    /// What there is to say about the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<SearchNote>,
    /// Best first; what was marked wrong comes last.
    pub results: Vec<SearchResult>,
    /// Which tier answered; none where nothing is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<SearchTier>,
    /// Why only the fast tier did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_fast: Option<String>,
    /// The question as it was put to the store; none where nothing is stored.
    #[serde(skip)]
    pub asked: Option<AskedSearch>,
}

/// A search as the store was asked it.
#[derive(Debug)]
pub struct AskedSearch {
    /// The words.
    pub query: Query,
    /// Where.
    pub filter: Filter,
}

/// One hit.
#[derive(Debug, Serialize)]
pub struct SearchResult {
    id: i64,
    uid: ItemUid,
    external_id: Option<String>,
    kind: Kind,
    title: String,
    time: String,
    project: ProjectKey,
    session: SessionId,
    agent: AgentId,
    branch: Option<String>,
    files: Vec<String>,
    seen: u32,
    score: f64,
    all_words: bool,
    any_words: bool,
    same: Vec<i64>,
    snippet: String,
    /// That a user marked it wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<RejectionView>,
    /// What holds in its place, if a later statement superseded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<SuccessorView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reverted_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<NamedParts>,
    /// The item and all that is known of the match, for faces that show it in their
    /// own way.
    #[serde(skip)]
    pub hit: Hit,
}

impl App {
    /// What fits the words, best first.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let mut parsed = ParsedSearch::from_request(self, request)?;
        let Some(store) = self.open_store()? else {
            return Ok(SearchResponse {
                ms: 0.0,
                notes: parsed.notes,
                results: Vec::new(),
                tier: None,
                only_fast: None,
                asked: None,
            });
        };
        // The time is that of the search and not of opening the store.
        let started = Instant::now();
        let limits = self.read_limits()?;
        if let ReadLimits::Hide(_) = limits {
            // Words must not lead out of the session's project.
            parsed.stay_here();
        }
        let (query, only_fast) =
            tier::prepare_query(request.tier, self.encoder(), &*store, parsed.query.clone());
        let filter = self.build_filter(&*store, &parsed, &limits)?;
        let mut hits = store.search(&query, &filter, request.limit)?;
        parsed.sort(&mut hits);
        let rejections = Rejections::load(&*store)?;
        // Users must still find what they marked wrong; only recall leaves it out.
        rejections.sort_last(&mut hits);
        let ms = started.elapsed().as_secs_f64() * 1000.0;
        if request.keep == KeptHits::Strong {
            keep_strong(&mut hits);
        }
        let wanted = SearchTerms::new(&query);
        let now = self.clock.now_ms();
        let mut successors = Successors::new(&*store, now);
        let results = hits.into_iter().map(|hit| {
            let successor = successors.find(&hit.item)?;
            let result = SearchResult::new(hit, request.parts, &rejections, &wanted, now);
            Ok(SearchResult {
                superseded_by: successor,
                ..result
            })
        });
        let results: Vec<SearchResult> = results.collect::<Result<_>>()?;
        Ok(SearchResponse {
            ms: (ms * 1000.0).round() / 1000.0,
            notes: parsed.notes,
            results,
            tier: Some(match query.text_embedding() {
                Some(_) => SearchTier::Full,
                None => SearchTier::Fast,
            }),
            only_fast,
            asked: Some(AskedSearch { query, filter }),
        })
    }

    fn build_filter(
        &self,
        store: &dyn Store,
        parsed: &ParsedSearch,
        limits: &ReadLimits,
    ) -> Result<Filter> {
        let session = parsed.session.as_deref();
        let session = session
            .map(|id| limits.resolve_session(store, id))
            .transpose()?;
        let project = match (&session, &parsed.project, limits) {
            // A session says which project it is in.
            (Some(_), ProjectChoice::Here | ProjectChoice::All, limits)
                if !matches!(limits, ReadLimits::Hide(_)) =>
            {
                None
            }
            _ => limits.resolve_project(self, store, &parsed.project)?,
        };
        let file = parsed.file.as_deref();
        Ok(Filter {
            project,
            kinds: parsed.kinds.clone(),
            file: file.map(|file| FileMatch::Like(self.resolve_file(file))),
            since: parsed.span.since,
            until: parsed.span.until,
            session,
            agent: parsed.agent.as_deref().map(scope::resolve_agent),
            ..Filter::default()
        })
    }

    /// How many hits the same question has in all projects, up to
    /// [`MAX_COUNTED_HITS`]. `None` where the caller may not know.
    pub fn count_hits_elsewhere(&self, asked: &AskedSearch) -> Result<Option<usize>> {
        if self.read_limits()?.own().is_some() {
            return Ok(None);
        }
        let everywhere = Filter {
            project: None,
            ..asked.filter.clone()
        };
        let store = self.require_store()?;
        let others = store.search(&asked.query, &everywhere, MAX_COUNTED_HITS)?;
        // Neighbours and similar meanings are no reason to send the user elsewhere.
        Ok(Some(others.iter().filter(|hit| hit.any_words).count()))
    }
}

impl SearchResult {
    fn new(
        hit: Hit,
        detail: ScoreDetail,
        rejections: &Rejections,
        wanted: &SearchTerms,
        now: i64,
    ) -> Self {
        let item = &hit.item;
        Self {
            id: item.id,
            uid: item.uid.clone(),
            external_id: item.external_id.clone(),
            kind: item.kind,
            title: item.title.clone(),
            time: format_rfc3339(item.time),
            project: item.project.clone(),
            session: item.session.clone(),
            agent: item.agent.clone(),
            branch: item.branch.clone(),
            files: list_files(item).into_iter().map(str::to_owned).collect(),
            seen: item.seen,
            score: hit.score,
            all_words: hit.all_words,
            any_words: hit.any_words,
            same: hit.same.clone(),
            snippet: build_snippet(item, wanted, MAX_SNIPPET_CHARS).text,
            wrong: rejections.find(item),
            superseded_by: None,
            reverted_by: reverted_by(item).map(str::to_owned),
            ended: item_ended_on(item, now),
            speaker: item.speaker.clone(),
            parts: match detail {
                ScoreDetail::Sum => None,
                ScoreDetail::Parts => Some(NamedParts(hit.parts.by_name().to_vec())),
            },
            hit,
        }
    }
}

/// Every file of an item, changed ones first.
pub fn list_files(item: &Item) -> Vec<&str> {
    let all = item.files_modified.iter().chain(&item.files_read);
    let mut files: Vec<&str> = Vec::new();
    for file in all {
        if !files.contains(&file.as_str()) {
            files.push(file);
        }
    }
    files
}
