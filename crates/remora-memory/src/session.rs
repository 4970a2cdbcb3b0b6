//! What is known of a session while it runs. Everything here is rebuilt from
//! the stored rows when the worker has been away: rows go in through one door,
//! whether they are new or old.

use remora_core::detail::DetailList;
use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind, Session};

use crate::capture::CapturedEvent;
use crate::episode::{ChangedLines, changed_lines};
use crate::fix::{self, OpenFailures};
use crate::near::{ItemTrace, RecentItems};
use crate::statement::options::{self, OfferedChoice};
use crate::statement::{self, Speaker, Statement};
use crate::store::{Filter, PageRequest, Result, Store};
use crate::summary::{self, ChangeStatus, Step, StepResult, Summary, Turn};

/// Rows that are looked at to find back into a session.
const MAX_RESUMED_ITEMS: usize = 300;
/// Steps that a checkpoint tells at most.
const MAX_STEPS: usize = 200;
/// Files that a statement names at most.
const MAX_STATEMENT_FILES: usize = 8;

#[derive(Debug)]
pub(crate) struct SessionState {
    pub(crate) session: Session,
    pub(crate) recent: RecentItems,
    pub(crate) failures: OpenFailures,
    prompts: Vec<String>,
    /// The same, with what was chosen in place of a bare choice.
    requests: Vec<String>,
    steps: Vec<Item>,
    pub(crate) statements: Vec<Statement>,
    /// What the agent's last message left to choose from.
    pub(crate) offered: Vec<OfferedChoice>,
    /// For forgetting the least used session first.
    pub(crate) used: u64,
}

impl SessionState {
    /// Finds back into a session, or begins it.
    pub(crate) fn load_session(
        store: &dyn Store,
        event: &CapturedEvent,
        project: &ProjectKey,
    ) -> Result<Self> {
        let filter = Filter {
            session: Some(event.session().to_owned()),
            ..Filter::default()
        };
        let known = store.list_sessions(&filter, 1)?.pop();
        let is_known = known.is_some();
        let mut state = Self {
            session: known.unwrap_or_else(|| begin_session(event, project)),
            recent: RecentItems::default(),
            failures: OpenFailures::default(),
            prompts: Vec::new(),
            requests: Vec::new(),
            steps: Vec::new(),
            statements: Vec::new(),
            offered: Vec::new(),
            used: 0,
        };
        if is_known {
            let page = PageRequest::newest(MAX_RESUMED_ITEMS);
            // The newest page, replayed in the order of time, as if the session had
            // gone on without a restart of the worker.
            for item in store.list_items(&filter, page)?.iter().rev() {
                let stated = state.read_statements(item);
                state.record_item(item);
                state.statements.extend(stated);
            }
        }
        Ok(state)
    }

    /// A row of this session, new or old.
    pub(crate) fn record_item(&mut self, item: &Item) {
        self.record_traced_item(item, None);
    }

    /// The same of a row whose trace was made already.
    pub(crate) fn record_traced_item(&mut self, item: &Item, trace: Option<ItemTrace>) {
        match item.kind {
            Kind::Prompt => {
                let chosen = options::find_selected_choice(&item.text, &self.offered);
                // "b" says nothing once the list is gone that it chose from.
                let wanted = chosen.map(|choice| choice.as_statement().text);
                self.requests
                    .push(wanted.unwrap_or_else(|| item.text.clone()));
                self.prompts.push(item.text.clone());
                self.offered.clear();
            }
            Kind::Summary => {
                self.offered = options::read_offered(item);
                self.prompts.clear();
                self.requests.clear();
                self.steps.clear();
                self.statements.clear();
                self.recent.end_turn();
            }
            Kind::Fix | Kind::Memory | Kind::Message | Kind::Commit => {}
            _ => {
                self.failures.record_item(item);
                let trace = trace.unwrap_or_else(|| ItemTrace::from_item(item));
                self.recent.record_trace(trace);
                // An item that is written again replaces the old one.
                if let Some(old) = self.steps.iter_mut().find(|old| old.uid == item.uid) {
                    *old = item.clone();
                } else if self.steps.len() < MAX_STEPS {
                    self.steps.push(item.clone());
                }
            }
        }
    }

    /// What was stated in a row of the session: its own rows do not keep a sentence
    /// apart from what it is about.
    fn read_statements(&self, item: &Item) -> Vec<Statement> {
        match item.kind {
            Kind::Prompt => options::stated_in(&item.text, &self.offered),
            Kind::Task => statement::find_statements(&item.text, Speaker::Assistant),
            _ => Vec::new(),
        }
    }

    /// Replaces an edit of this session that reads otherwise since it was reverted.
    pub(crate) fn replace_step(&mut self, item: &Item) {
        if let Some(old) = self.steps.iter_mut().find(|old| old.uid == item.uid) {
            *old = item.clone();
        }
    }

    /// Whether what a step changed is still there at the end of the turn.
    fn change_status(&self, item: &Item) -> ChangeStatus {
        let is_here = |uid: &str| self.steps.iter().any(|step| step.uid == uid);
        if fix::is_tried(item) {
            ChangeStatus::Tried
        } else if fix::is_reversal(item) && item.detail_list(DetailList::Reverts).all(is_here) {
            ChangeStatus::Reversal
        } else {
            ChangeStatus::Stands
        }
    }

    /// What this subagent has reported of its result itself.
    pub(crate) fn find_report(&self, agent: &str) -> Option<&Item> {
        self.steps
            .iter()
            .find(|step| step.kind == Kind::Task && step.subagent.as_deref() == Some(agent))
    }

    /// What the user asked for last, in a few words.
    pub(crate) fn last_request(&self) -> String {
        let last = self.requests.last().map(String::as_str);
        summary::request_of(last.as_slice())
    }

    /// What was changed since the last checkpoint.
    pub(crate) fn changed_files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for file in self.steps.iter().flat_map(|step| &step.files_modified) {
            if !files.contains(file) && files.len() < MAX_STATEMENT_FILES {
                files.push(file.clone());
            }
        }
        files
    }

    /// The lines of code that were put in and taken out since the last checkpoint.
    pub(crate) fn changed_lines(&self) -> ChangedLines {
        let stands = |step: &&Item| self.change_status(step) == ChangeStatus::Stands;
        changed_lines(self.steps.iter().filter(stands))
    }

    /// What has happened since the last checkpoint, if it is worth a row.
    pub(crate) fn build_summary(&self, last_message: Option<&str>) -> Option<Summary> {
        let prompts: Vec<&str> = self.prompts.iter().map(String::as_str).collect();
        let requests: Vec<&str> = self.requests.iter().map(String::as_str).collect();
        let steps: Vec<Step<'_>> = self
            .steps
            .iter()
            .map(|item| Step {
                kind: item.kind.name(),
                title: &item.title,
                files_read: &item.files_read,
                files_modified: &item.files_modified,
                facts: &item.facts,
                command: item.command(),
                standing: self.change_status(item),
                result: if item.kind == Kind::Failure {
                    StepResult::Failed
                } else {
                    StepResult::Passed
                },
            })
            .collect();
        summary::summarise_turn(&Turn {
            prompts: &prompts,
            requests: &requests,
            last_message,
            steps: &steps,
            statements: &self.statements,
        })
    }
}

fn begin_session(event: &CapturedEvent, project: &ProjectKey) -> Session {
    Session {
        id: event.session().to_owned(),
        agent: event.envelope.agent.clone(),
        project: project.clone(),
        cwd: event.event.cwd.clone(),
        branch: event.envelope.branch.clone(),
        started: event.envelope.at,
        last: event.envelope.at,
        end_reason: None,
        prompts: 0,
        title: String::new(),
    }
}
