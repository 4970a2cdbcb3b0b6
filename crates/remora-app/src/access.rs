//! Who asks, and what they may read. In the shell of an agent a command reads
//! the project it is run in, as the agent does over MCP; a user reads
//! everything.
//!
//! This is a rule for commands that were allowed once and for all (searching,
//! showing), not a wall: a program that may run anything can change its environment
//! and read the database by itself.

use remora_core::ids::{ProjectKey, SessionId};
use remora_core::record::{Item, Kind};
use remora_memory::store::Store;

use crate::app::{App, CallerKind};
use crate::error::{AppError, ErrorKind, Hint, Result};
use crate::scope::ProjectChoice;

/// The setting that lets agents read everything.
pub const ALL_PROJECTS_KEY: &str = "mcp.all_projects";

/// What a caller may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadLimits {
    /// Every project.
    Everything,
    /// This project; anything else is refused.
    Refuse(ProjectKey),
    /// This project; anything else is as good as not there.
    Hide(ProjectKey),
}

impl App {
    /// What the caller may read.
    pub fn read_limits(&self) -> Result<ReadLimits> {
        let unlimited = self.config.get_flag(ALL_PROJECTS_KEY);
        Ok(match self.caller.kind {
            CallerKind::User => ReadLimits::Everything,
            _ if unlimited => ReadLimits::Everything,
            CallerKind::AgentShell => ReadLimits::Refuse(self.current_project()?),
            CallerKind::AgentTool => ReadLimits::Hide(self.current_project()?),
        })
    }

    /// What the caller may correct. An agent's tool changes nothing outside of its
    /// session's project, whatever it may read.
    pub fn change_limits(&self) -> Result<ReadLimits> {
        match self.caller.kind {
            CallerKind::AgentTool => Ok(ReadLimits::Hide(self.current_project()?)),
            CallerKind::User | CallerKind::AgentShell => self.read_limits(),
        }
    }

    /// Refuses to agents what makes words the user's, or takes back what the user
    /// said: an agent does not speak for them.
    pub fn require_user(&self, what: &str) -> Result<()> {
        match self.caller.kind {
            CallerKind::User => Ok(()),
            CallerKind::AgentShell | CallerKind::AgentTool => Err(AppError::new(
                ErrorKind::Forbidden,
                format!("{what} by a user: run this in a terminal of your own"),
            )),
        }
    }
}

impl ReadLimits {
    /// The only project that may be read.
    pub fn own(&self) -> Option<&ProjectKey> {
        match self {
            Self::Everything => None,
            Self::Refuse(own) | Self::Hide(own) => Some(own),
        }
    }

    /// The project that is meant, if it may be read; `None` for all of them.
    pub fn resolve_project(
        &self,
        app: &App,
        store: &dyn Store,
        choice: &ProjectChoice,
    ) -> Result<Option<ProjectKey>> {
        if let Self::Hide(own) = self {
            return Ok(Some(own.clone()));
        }
        let found = app.resolve_project(store, choice)?;
        self.check_project(found.as_deref())?;
        Ok(found)
    }

    /// Refuses a project that may not be read; `None` means all of them.
    pub fn check_project(&self, key: Option<&str>) -> Result<()> {
        match self.own() {
            Some(own) if key != Some(own) => Err(refusal_error("other projects")),
            _ => Ok(()),
        }
    }

    /// The session that is meant, among those that may be read.
    pub fn resolve_session(&self, store: &dyn Store, id: &str) -> Result<SessionId> {
        match self.own() {
            // A session of another project is answered as one that does not exist.
            Some(own) => crate::scope::find_session_of(store, id, own),
            None => crate::scope::find_session(store, id),
        }
    }

    /// Whether an item may be read; what the user saved for all projects may.
    pub fn allows_item(&self, item: &Item) -> bool {
        let is_users = item.kind == Kind::Memory && item.project.is_empty();
        self.own()
            .is_none_or(|own| item.project == *own || is_users)
    }

    /// The item, if it may be read; `None` if not even its being there is said.
    pub fn check_item(&self, item: Item) -> Result<Option<Item>> {
        match self {
            _ if self.allows_item(&item) => Ok(Some(item)),
            Self::Hide(_) | Self::Everything => Ok(None),
            Self::Refuse(_) => Err(refusal_error(&format!("#{} of another project", item.id))),
        }
    }
}

fn refusal_error(what: &str) -> AppError {
    AppError::new(
        ErrorKind::Forbidden,
        format!("an agent's shell reads its own project alone, not {what}"),
    )
    .with_hint(Hint::AskAsUser)
}
