//! The MCP server: an agent asks for memory over stdin and stdout. It speaks the
//! protocol and bounds what is said; what is known comes through `Library`.
//!
//! Whatever is asked, the server goes on: a call that cannot be answered is an
//! answer too. It ends when its input does.

mod text;
mod tools;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use remora_core::record::Kind;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use text::SearchScope;
pub use text::{
    CorrectionReceipt, EntryDetail, Lookup, SaveReceipt, SearchEntry, TextOrigin, TimelineEntry,
};

/// The name of the server, which is part of the names of its tools.
pub const SERVER_NAME: &str = "remora";
/// The server's instructions, which a model reads before it has seen a tool.
const SERVER_INSTRUCTIONS: &str = "Remora remembers earlier sessions in this project: decisions, \
    errors and their fixes, what was done to files. Before work that may have a history, `search` \
    (few words), then `get` only the ids that look right. Save a lasting fact with `remember`.";
/// Calls that are worked on at once; more wait.
const MAX_CONCURRENT_CALLS: usize = 2;
/// How often the library may put away what it does not need.
const RELEASE_INTERVAL: Duration = Duration::from_secs(30);

/// Which projects a session may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpLimits {
    /// Its own, and what the user saved for all of them.
    OwnProject,
    /// Every one: the user said so.
    AllProjects,
}

/// Which projects are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectScope {
    /// The one that the agent works in.
    Project,
    /// All of them.
    Everywhere,
}

/// What a search asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchParams {
    /// The words, with filters among them.
    pub query: String,
    /// Any of these; empty means all.
    pub kinds: Vec<Kind>,
    /// A file or folder.
    pub file: Option<String>,
    /// From this time on, as a user would say it.
    pub since: Option<String>,
    /// Where.
    pub reach: ProjectScope,
    /// How many items at most.
    pub limit: usize,
}

/// Which stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineParams {
    /// Before and after this item.
    pub around: Option<String>,
    /// From this time on, as a user would say it.
    pub since: Option<String>,
    /// Up to this time.
    pub until: Option<String>,
    /// Where.
    pub reach: ProjectScope,
    /// How many items at most.
    pub limit: usize,
}

/// What is to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its words.
    pub text: String,
    /// The name of its file.
    pub name: Option<String>,
    /// One of [`Fact::TYPES`].
    pub kind: Option<String>,
    /// One of [`Fact::SCOPES`].
    pub scope: Option<String>,
    /// 1 to 5.
    pub priority: Option<u8>,
}

impl Fact {
    /// What a fact may be about.
    pub const TYPES: &[&str] = &["user", "feedback", "project", "reference"];
    /// For whom it is saved.
    pub const SCOPES: &[&str] = &["project", "user", "team"];
}

/// What the server asks of its host. Blocking by design: the server calls it on
/// threads of its own. The model reads an error as it is.
pub trait MemoryLibrary: Send + Sync + 'static {
    /// What a session may read, by the user's settings as they are now.
    fn project_limits(&self) -> McpLimits;
    /// Items that fit, best first.
    fn search(&self, search: &SearchParams) -> Result<Lookup<SearchEntry>, String>;
    /// Items and memories in full, in the order asked for.
    fn get(&self, ids: &[String]) -> Result<Lookup<EntryDetail>, String>;
    /// What happened, in the order of time.
    fn list_timeline(&self, timeline: &TimelineParams) -> Result<Lookup<TimelineEntry>, String>;
    /// Saves a fact; says where, and what there is to say about it.
    fn save_fact(&self, fact: &Fact) -> Result<SaveReceipt, String>;
    /// Deletes an item for good.
    fn forget_item(&self, id: &str) -> Result<CorrectionReceipt, String>;
    /// Marks an item as wrong, so that it is never injected again.
    fn reject_item(&self, id: &str, because: Option<&str>) -> Result<CorrectionReceipt, String>;
    /// Called now and then: what is not in use may go.
    fn release_idle(&self) {}
}

/// Answers on stdin and stdout until stdin ends.
pub fn serve_stdio(library: Arc<dyn MemoryLibrary>, version: &str) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let server = McpServer::new(library, version);
    // Made inside: they belong to the runtime.
    let ended = runtime
        .block_on(async { run_server(server, tokio::io::stdin(), tokio::io::stdout()).await });
    // A call that is still at work has no peer left to answer.
    runtime.shutdown_background();
    ended
}

async fn run_server<R, W>(server: McpServer, input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let resting = tokio::spawn(release_periodically(Arc::clone(&server.library)));
    let ended = match server.serve((input, output)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
        // Someone who leaves before the first word wanted nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    };
    resting.abort();
    ended
}

async fn release_periodically(library: Arc<dyn MemoryLibrary>) {
    loop {
        tokio::time::sleep(RELEASE_INTERVAL).await;
        let library = Arc::clone(&library);
        let _ = tokio::task::spawn_blocking(move || library.release_idle()).await;
    }
}

struct McpServer {
    library: Arc<dyn MemoryLibrary>,
    version: String,
    turns: Arc<Semaphore>,
}

impl McpServer {
    fn new(library: Arc<dyn MemoryLibrary>, version: &str) -> Self {
        Self {
            library,
            version: version.to_owned(),
            turns: Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS)),
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new(SERVER_NAME, &self.version))
            .with_instructions(SERVER_INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list_tools(
            self.library.project_limits(),
        )))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = call.arguments.unwrap_or_default();
        let answer = match tools::ToolRequest::from_arguments(
            &call.name,
            &arguments,
            self.library.project_limits(),
        ) {
            Ok(asked) => self.answer_call(asked).await,
            Err(why) => Err(why),
        };
        let result = match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(text::render_error(&why))]),
        };
        Ok(result.into())
    }
}

impl McpServer {
    /// On another thread, so that the protocol is never kept waiting.
    async fn answer_call(&self, asked: tools::ToolRequest) -> Result<String, String> {
        let turns = Arc::clone(&self.turns);
        let turn = turns.acquire_owned().await.map_err(|e| e.to_string())?;
        let library = Arc::clone(&self.library);
        let work = tokio::task::spawn_blocking(move || {
            let answer = call_library(&*library, &asked);
            drop(turn);
            answer
        });
        work.await
            .unwrap_or_else(|_| Err("the call failed inside Remora".to_owned()))
    }
}

/// Whether there is anything to add about what a call searched.
fn wider_scope(library: &dyn MemoryLibrary, reach: ProjectScope) -> SearchScope {
    match (library.project_limits(), reach) {
        (McpLimits::AllProjects, ProjectScope::Project) => SearchScope::ToAllProjects,
        _ => SearchScope::None,
    }
}

fn call_library(library: &dyn MemoryLibrary, asked: &tools::ToolRequest) -> Result<String, String> {
    Ok(match asked {
        tools::ToolRequest::Search(search) => {
            text::render_index(&library.search(search)?, wider_scope(library, search.reach))
        }
        tools::ToolRequest::Get(ids) => text::render_details(&library.get(ids)?),
        tools::ToolRequest::Timeline(timeline) => {
            let found = library.list_timeline(timeline)?;
            text::render_timeline(&found, wider_scope(library, timeline.reach))
        }
        tools::ToolRequest::Remember(fact) => text::render_saved(&library.save_fact(fact)?),
        tools::ToolRequest::Forget(id) => text::render_correction(&library.forget_item(id)?),
        tools::ToolRequest::Wrong { id, because } => {
            text::render_correction(&library.reject_item(id, because.as_deref())?)
        }
    })
}

#[cfg(test)]
mod tests;
