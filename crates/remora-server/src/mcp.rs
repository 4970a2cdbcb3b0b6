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

use remora_protocol::record::Kind;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use text::Widening;
pub use text::{Detail, Entry, Found, Receipt, Row, Source, Took};

/// The name of the server, which is part of the names of its tools.
pub const SERVER: &str = "remora";
/// What a model is told of the server before it has seen a tool.
const INSTRUCTIONS: &str = "Remora remembers earlier sessions in this project: decisions, \
    errors and their fixes, what was done to files. Before work that may have a history, `search` \
    (few words), then `get` only the ids that look right. Save a lasting fact with `remember`.";
/// Calls that are worked on at once; more wait.
const AT_ONCE: usize = 2;
/// How often the library may put away what it does not need.
const REST: Duration = Duration::from_secs(30);

/// Which projects a session may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// Its own, and what the user saved for all of them.
    OwnProject,
    /// Every one: the user said so.
    AllProjects,
}

/// Which projects are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The one that the agent works in.
    Project,
    /// All of them.
    Everywhere,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The words, with filters among them.
    pub query: String,
    /// Any of these; empty means all.
    pub kinds: Vec<Kind>,
    /// A file or folder.
    pub file: Option<String>,
    /// From this time on, as a person would say it.
    pub since: Option<String>,
    /// Where.
    pub reach: Reach,
    /// How many rows at most.
    pub limit: usize,
}

/// Which stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Before and after this row.
    pub around: Option<String>,
    /// From this time on, as a person would say it.
    pub since: Option<String>,
    /// Up to this time.
    pub until: Option<String>,
    /// Where.
    pub reach: Reach,
    /// How many rows at most.
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

/// What the server asks of whoever knows. Blocking by design: the server calls
/// it on threads of its own. An error is told to the model as it is.
pub trait Library: Send + Sync + 'static {
    /// What a session may read, by the user's settings of this moment.
    fn bounds(&self) -> Bounds;
    /// Rows that fit, best first.
    fn search(&self, search: &Search) -> Result<Found<Row>, String>;
    /// Rows and memories in full, in the order asked for.
    fn get(&self, ids: &[String]) -> Result<Found<Detail>, String>;
    /// What happened, in the order of time.
    fn timeline(&self, timeline: &Timeline) -> Result<Found<Entry>, String>;
    /// Saves a fact; says where, and what there is to say about it.
    fn remember(&self, fact: &Fact) -> Result<Took, String>;
    /// Deletes an item for good.
    fn forget(&self, id: &str) -> Result<Receipt, String>;
    /// Marks an item as wrong, so that no session is told of it again.
    fn reject(&self, id: &str, because: Option<&str>) -> Result<Receipt, String>;
    /// Called now and then: what nobody uses may go.
    fn rest(&self) {}
}

/// Answers on stdin and stdout until stdin ends.
pub fn serve(library: Arc<dyn Library>, version: &str) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let server = Server::new(library, version);
    // Made inside: they belong to the runtime.
    let ended =
        runtime.block_on(async { run(server, tokio::io::stdin(), tokio::io::stdout()).await });
    // A call that is still at work has nobody left to answer.
    runtime.shutdown_background();
    ended
}

async fn run<R, W>(server: Server, input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let resting = tokio::spawn(rest(Arc::clone(&server.library)));
    let ended = match server.serve((input, output)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
        // Someone who leaves before the first word wanted nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    };
    resting.abort();
    ended
}

async fn rest(library: Arc<dyn Library>) {
    loop {
        tokio::time::sleep(REST).await;
        let library = Arc::clone(&library);
        let _ = tokio::task::spawn_blocking(move || library.rest()).await;
    }
}

struct Server {
    library: Arc<dyn Library>,
    version: String,
    turns: Arc<Semaphore>,
}

impl Server {
    fn new(library: Arc<dyn Library>, version: &str) -> Self {
        Self {
            library,
            version: version.to_owned(),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new(SERVER, &self.version))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(
            self.library.bounds(),
        )))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = call.arguments.unwrap_or_default();
        let answer = match tools::Asked::read(&call.name, &arguments, self.library.bounds()) {
            Ok(asked) => self.answer(asked).await,
            Err(why) => Err(why),
        };
        let result = match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(text::fault(&why))]),
        };
        Ok(result.into())
    }
}

impl Server {
    /// On another thread, so that the protocol is never kept waiting.
    async fn answer(&self, asked: tools::Asked) -> Result<String, String> {
        let turns = Arc::clone(&self.turns);
        let turn = turns.acquire_owned().await.map_err(|e| e.to_string())?;
        let library = Arc::clone(&self.library);
        let work = tokio::task::spawn_blocking(move || {
            let answer = answer(&*library, &asked);
            drop(turn);
            answer
        });
        work.await
            .unwrap_or_else(|_| Err("the call failed inside Remora".to_owned()))
    }
}

/// Whether there is anything to add to where a call looked.
fn widening(library: &dyn Library, reach: Reach) -> Widening {
    match (library.bounds(), reach) {
        (Bounds::AllProjects, Reach::Project) => Widening::ToAllProjects,
        _ => Widening::None,
    }
}

fn answer(library: &dyn Library, asked: &tools::Asked) -> Result<String, String> {
    Ok(match asked {
        tools::Asked::Search(search) => {
            text::rows(&library.search(search)?, widening(library, search.reach))
        }
        tools::Asked::Get(ids) => text::details(&library.get(ids)?),
        tools::Asked::Timeline(timeline) => {
            let found = library.timeline(timeline)?;
            text::entries(&found, widening(library, timeline.reach))
        }
        tools::Asked::Remember(fact) => text::took(&library.remember(fact)?),
        tools::Asked::Forget(id) => text::corrected(&library.forget(id)?),
        tools::Asked::Wrong { id, because } => {
            text::corrected(&library.reject(id, because.as_deref())?)
        }
    })
}

#[cfg(test)]
mod tests;
