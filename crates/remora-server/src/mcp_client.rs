//! The MCP client: calls tools of the servers that a session would be connected
//! with, over their stdin and stdout or over streamable HTTP.
//!
//! A server is started, or reached, at the first call of one of its tools, inside
//! that call's deadline. Its conversation has a thread with a runtime of its own,
//! so a server that hangs costs the calls that wait for it and nothing else.

mod bridge;
mod config;
mod process;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use remora_http::RunLookup;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ContentBlock};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Map, Value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use config::{ServerConfig, ServerLink, ServerScope, parse_servers};
pub use process::end_all_servers;

/// What is kept of one answer.
const MAX_REPLY_BYTES: usize = 4 << 20;
/// How much of a server's own words an error quotes.
const MAX_QUOTED_CHARS: usize = 300;

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolReply {
    /// Its texts, in order.
    pub texts: Vec<String>,
    /// Whether the tool says that it failed.
    pub failed: bool,
}

/// Why a tool did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolCallError {
    /// The deadline came first.
    #[error("the server did not answer in time")]
    TimedOut,
    /// There is no such server, it ended, or it refused the call.
    #[error("{0}")]
    Failed(String),
}

/// The servers of one session. Dropping it ends them.
#[derive(Debug)]
pub struct McpClients {
    run_lookup: RunLookup,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    configs: Vec<ServerConfig>,
    connections: HashMap<String, Connection>,
    /// Connections that are over or no longer wanted, until their threads have ended.
    retired: Vec<Connection>,
}

/// One call on its way to a server's thread.
struct Order {
    params: CallToolRequestParams,
    deadline: Instant,
    reply: mpsc::Sender<Result<ToolReply, ToolCallError>>,
    /// Set before the server may see the call.
    taken: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Connection {
    orders: Option<UnboundedSender<Order>>,
    /// Why it ended, once it has.
    ended: Arc<Mutex<Option<String>>>,
    /// When the last call must be answered; what a blocking leg may take.
    latest: Arc<Mutex<Instant>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.let_go();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where an order went.
struct SentOrder {
    ended: Arc<Mutex<Option<String>>>,
    /// The connection was made for this very call.
    is_new: bool,
}

/// Why an attempt at a call failed.
enum CallFailure {
    /// The connection of an earlier call had ended, and the server never saw this one.
    Unsent(String),
    Error(ToolCallError),
}

impl From<CallFailure> for ToolCallError {
    fn from(failure: CallFailure) -> Self {
        match failure {
            CallFailure::Unsent(why) => Self::Failed(why),
            CallFailure::Error(error) => error,
        }
    }
}

impl McpClients {
    /// Connects with nothing yet. `run_lookup` looks up the hosts of HTTP servers.
    pub fn new(configs: Vec<ServerConfig>, run_lookup: RunLookup) -> Self {
        Self {
            run_lookup,
            state: Mutex::new(State {
                configs,
                connections: HashMap::new(),
                retired: Vec::new(),
            }),
        }
    }

    /// From now on these are the servers. Connections with those that stay as they
    /// were go on; calls of the others fail.
    pub fn replace_servers(&self, configs: Vec<ServerConfig>) {
        let mut state = self.lock();
        let before = std::mem::replace(&mut state.configs, configs);
        let changed: Vec<String> = (state.connections.keys())
            .filter(|name| find_config(&before, name) != find_config(&state.configs, name))
            .cloned()
            .collect();
        for name in changed {
            state.retire(&name);
        }
    }

    /// Calls a tool and waits for the answer, until the deadline at most. A server
    /// that has ended since an earlier call, or was never reached, is connected with
    /// again, once.
    pub fn call_tool(
        &self,
        server: &str,
        tool: &str,
        input: &Map<String, Value>,
        deadline: Instant,
    ) -> Result<ToolReply, ToolCallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input.clone());
        match self.try_call(server, params.clone(), deadline) {
            Err(CallFailure::Unsent(_)) => Ok(self.try_call(server, params, deadline)?),
            reply => Ok(reply?),
        }
    }

    fn try_call(
        &self,
        server: &str,
        params: CallToolRequestParams,
        deadline: Instant,
    ) -> Result<ToolReply, CallFailure> {
        let (reply, answer) = mpsc::channel();
        let taken = Arc::new(AtomicBool::new(false));
        let order = Order {
            params,
            deadline,
            reply,
            taken: Arc::clone(&taken),
        };
        let sent = self.send_order(server, order).map_err(CallFailure::Error)?;
        let left = deadline.saturating_duration_since(Instant::now());
        match answer.recv_timeout(left) {
            Ok(reply) => reply.map_err(CallFailure::Error),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Err(CallFailure::Error(ToolCallError::TimedOut))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                // Noted by the thread, which may just be ending.
                note_end(&sent.ended, "it ended");
                let why = lock_end(&sent.ended);
                let why = why.as_deref().unwrap_or_default();
                let why = format!("MCP server \"{server}\" is not connected: {why}");
                if sent.is_new || taken.load(Ordering::Acquire) {
                    Err(CallFailure::Error(ToolCallError::Failed(why)))
                } else {
                    Err(CallFailure::Unsent(why))
                }
            }
        }
    }

    fn send_order(&self, server: &str, order: Order) -> Result<SentOrder, ToolCallError> {
        let failed = |why: String| ToolCallError::Failed(why);
        let mut state = self.lock();
        if (state.connections.get(server)).is_some_and(Connection::has_ended) {
            state.retire(server);
        }
        let is_new = !state.connections.contains_key(server);
        if is_new {
            let config = find_config(&state.configs, server)
                .ok_or_else(|| failed(format!("MCP server \"{server}\" is not configured")))?;
            let connection = Connection::connect(config, order.deadline, self.run_lookup)
                .map_err(|e| failed(format!("MCP server \"{server}\": {e}")))?;
            state.connections.insert(server.to_owned(), connection);
        }
        let Some(connection) = state.connections.get(server) else {
            return Err(failed(format!("MCP server \"{server}\" is not connected")));
        };
        {
            let mut latest = connection
                .latest
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *latest = (*latest).max(order.deadline);
        }
        if let Some(orders) = &connection.orders {
            // A thread that ended drops the order, which its caller notices.
            let _ = orders.send(order);
        }
        Ok(SentOrder {
            ended: Arc::clone(&connection.ended),
            is_new,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find_config<'a>(configs: &'a [ServerConfig], name: &str) -> Option<&'a ServerConfig> {
    configs.iter().find(|config| config.name == name)
}

impl State {
    /// Ends a connection without waiting for it: a server may take a moment to go, and
    /// calls of others wait for the lock.
    fn retire(&mut self, name: &str) {
        if let Some(mut connection) = self.connections.remove(name) {
            connection.let_go();
            self.retired.push(connection);
        }
        self.retired
            .retain(|c| c.thread.as_ref().is_some_and(|t| !t.is_finished()));
    }
}

impl Connection {
    fn has_ended(&self) -> bool {
        lock_end(&self.ended).is_some()
    }

    /// The thread sees that nothing more comes, and ends its server.
    fn let_go(&mut self) {
        self.orders = None;
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Starts the thread; it connects by itself.
    fn connect(
        config: &ServerConfig,
        deadline: Instant,
        run_lookup: RunLookup,
    ) -> io::Result<Self> {
        let (orders, mut incoming) = unbounded_channel();
        let ended = Arc::new(Mutex::new(None));
        let latest = Arc::new(Mutex::new(deadline));
        let thread = {
            let (config, ended, latest) = (config.clone(), Arc::clone(&ended), Arc::clone(&latest));
            std::thread::Builder::new().spawn(move || {
                let orders = &mut incoming;
                let outcome = serve(&config, deadline, &latest, run_lookup, orders, &ended);
                if let Err(why) = outcome {
                    note_end(&ended, &why);
                }
                // Only now, so that callers find out why.
                drop(incoming);
            })?
        };
        Ok(Self {
            orders: Some(orders),
            ended,
            latest,
            thread: Some(thread),
        })
    }
}

fn note_end(ended: &Mutex<Option<String>>, why: &str) {
    lock_end(ended).get_or_insert_with(|| why.to_owned());
}

fn lock_end(ended: &Mutex<Option<String>>) -> MutexGuard<'_, Option<String>> {
    ended.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The life of a connection: connect, make calls until no more come, end.
fn serve(
    config: &ServerConfig,
    deadline: Instant,
    latest: &Arc<Mutex<Instant>>,
    run_lookup: RunLookup,
    orders: &mut UnboundedReceiver<Order>,
    ended: &Arc<Mutex<Option<String>>>,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| e.to_string())?;
    // Outlives the runtime's tasks: the server is ended last, whatever they hold.
    let mut process = None;
    runtime.block_on(async {
        let (reader, writer) = match &config.link {
            ServerLink::Stdio(command) => {
                let (child, reader, writer) = process::start(command).map_err(|e| e.to_string())?;
                process = Some(child);
                (reader, writer)
            }
            ServerLink::Http { url, headers } => {
                let (latest, ended) = (Arc::clone(latest), Arc::clone(ended));
                bridge::start(url, headers, latest, ended, run_lookup).map_err(|e| e.to_string())?
            }
        };
        let transport = (process::BoundedLines::new(reader), writer);
        let connected = tokio::time::timeout_at(deadline.into(), ().serve(transport)).await;
        let service = match connected {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(quote(&error.to_string())),
            Err(_) => return Err("it did not connect in time".to_owned()),
        };
        tokio::select! {
            () = make_calls(&service, orders, ended) => {}
            // Calls without an answer end with the runtime, and their callers notice.
            () = wait_for_exit(process.as_ref()) => note_end(ended, "it ended"),
        }
        Ok(())
    })
    // The runtime goes first, and with it the pipes: an orderly server ends by itself.
}

/// A program that ended need not close its output: what it started may hold that.
async fn wait_for_exit(process: Option<&process::ServerProcess>) {
    let Some(process) = process else {
        return std::future::pending().await;
    };
    while !process.has_exited() {
        tokio::time::sleep(EXIT_INTERVAL).await;
    }
    // What it wrote before is read first.
    tokio::time::sleep(EXIT_INTERVAL).await;
}

async fn make_calls(
    service: &RunningService<RoleClient, ()>,
    orders: &mut UnboundedReceiver<Order>,
    ended: &Mutex<Option<String>>,
) {
    while let Some(order) = orders.recv().await {
        if service.is_transport_closed() {
            // The order goes back as it came: the server never saw it.
            note_end(ended, "it ended");
            return;
        }
        order.taken.store(true, Ordering::Release);
        let peer = service.peer().clone();
        let call = async move {
            let made = peer.call_tool(order.params);
            let reply = match tokio::time::timeout_at(order.deadline.into(), made).await {
                Ok(Ok(result)) => read_reply(result.content, result.is_error),
                Ok(Err(error)) => Err(ToolCallError::Failed(quote(&error.to_string()))),
                Err(_) => Err(ToolCallError::TimedOut),
            };
            // The caller may have given up.
            let _ = order.reply.send(reply);
        };
        tokio::spawn(call);
    }
}

fn read_reply(
    content: Vec<ContentBlock>,
    is_error: Option<bool>,
) -> Result<ToolReply, ToolCallError> {
    let texts: Vec<String> = content
        .into_iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text),
            _ => None,
        })
        .collect();
    if texts.iter().map(String::len).sum::<usize>() > MAX_REPLY_BYTES {
        return Err(ToolCallError::Failed("the answer is too long".to_owned()));
    }
    Ok(ToolReply {
        texts,
        failed: is_error == Some(true),
    })
}

fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = line.chars().filter(|c| !c.is_control());
    shown.take(MAX_QUOTED_CHARS).collect()
}

/// How often a program is asked whether it still runs.
const EXIT_INTERVAL: Duration = Duration::from_millis(100);
/// How long a server may take to end by itself once its input is closed.
const END_TIMEOUT: Duration = Duration::from_millis(500);
