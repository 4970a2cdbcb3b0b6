//! The loop over requests, and what lasts between them.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use remora_hooks::{CancelToken, SessionRemainder};
use serde_json::{Map, Value};

use crate::line::{Line, MAX_LINE_BYTES, read_line};
use crate::link::Link;
use crate::message::{
    BUSY, INVALID_PARAMS, Incoming, PARSE_ERROR, Refused, RpcError, build_answer, parse_line,
};
use crate::methods::start_fire;
use crate::params::Params;
use crate::session::{Opener, Served};
use crate::table::{Method, find_method};

/// Events that may be under way at once.
const MAX_FIRES: usize = 256;
/// Sessions that may be open at once.
const MAX_SESSIONS: usize = 256;
/// How long handlers may take to be gone once they were ended.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves a host until its input ends. Then every session is closed, and whatever
/// it started is ended.
pub fn serve(
    mut input: impl BufRead,
    output: Box<dyn Write + Send>,
    opener: Box<dyn Opener>,
) -> io::Result<()> {
    let server = Arc::new(Server {
        link: Arc::new(Link::new(output)),
        opener,
        sessions: Mutex::default(),
        opened: AtomicU64::new(0),
        flights: Mutex::default(),
        landed: Condvar::new(),
        remainders: Mutex::default(),
    });
    let read = read_requests(&server, &mut input);
    server.end();
    read
}

fn read_requests(server: &Arc<Server>, input: &mut impl BufRead) -> io::Result<()> {
    while let Some(line) = read_line(input, MAX_LINE_BYTES)? {
        let incoming = match line {
            Line::TooLong => Err(Refused::of_unknown(RpcError::new(
                PARSE_ERROR,
                format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20),
            ))),
            Line::Text(text) if text.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Text(text) => parse_line(&text),
        };
        match incoming {
            Ok(Incoming::Response { id, result }) => server.link.resolve(&id, result),
            Ok(Incoming::Request { id, method, params }) => {
                handle_request(server, id.as_ref(), &method, params);
            }
            Err(refused) => {
                let answer = build_answer(&refused.id, Err(*refused.error));
                server.link.send(&answer);
            }
        }
    }
    Ok(())
}

fn handle_request(
    server: &Arc<Server>,
    id: Option<&Value>,
    method: &str,
    params: Map<String, Value>,
) {
    let found =
        find_method(method).and_then(|row| Ok((&row.method, Params::new(params, row.params)?)));
    let result = match found {
        Err(error) => Err(error),
        Ok((Method::Direct(run), params)) => run(server, params),
        // In a thread, which answers by itself.
        Ok((Method::Fire, params)) => match start_fire(server, id.cloned(), params) {
            Ok(()) => return,
            Err(error) => Err(error),
        },
    };
    server.answer(id, result);
}

/// An event that is under way.
struct Flight {
    session: String,
    cancel: CancelToken,
}

#[derive(Default)]
struct Flights {
    fires: BTreeMap<u64, Flight>,
    next: u64,
    /// Threads that wait for handlers in the background, or for files.
    waiting: usize,
}

/// All sessions of one host.
pub(crate) struct Server {
    pub(crate) link: Arc<Link>,
    pub(crate) opener: Box<dyn Opener>,
    sessions: Mutex<BTreeMap<String, Arc<Served>>>,
    opened: AtomicU64,
    flights: Mutex<Flights>,
    landed: Condvar,
    /// Handlers that outlive their session, not the host.
    remainders: Mutex<Vec<SessionRemainder>>,
}

impl Server {
    /// Answers a request; a notification is not answered.
    pub(crate) fn answer(&self, id: Option<&Value>, result: Result<Value, RpcError>) {
        if let Some(id) = id {
            self.link.send(&build_answer(id, result));
        }
    }

    pub(crate) fn check_room(&self) -> Result<(), RpcError> {
        if self.lock_sessions().len() >= MAX_SESSIONS {
            return Err(RpcError::new(
                BUSY,
                format!("{MAX_SESSIONS} sessions are open; close one"),
            ));
        }
        Ok(())
    }

    pub(crate) fn next_name(&self) -> String {
        format!("s{}", self.opened.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) fn add_session(&self, session: Arc<Served>) {
        self.lock_sessions().insert(session.name.clone(), session);
    }

    /// The session that `session` names.
    pub(crate) fn find_session(&self, params: &mut Params) -> Result<Arc<Served>, RpcError> {
        let name: String = params.take("session")?;
        let found = self.lock_sessions().get(&name).cloned();
        found.ok_or_else(|| {
            RpcError::about(INVALID_PARAMS, "session", format!("`{name}` is not open"))
        })
    }

    /// Closes a session: events under way are cancelled, and what outlives it lives
    /// as long as the host, unless all of it is to end.
    pub(crate) fn close_session(&self, session: &Served, ends_all: bool) -> usize {
        self.lock_sessions().remove(&session.name);
        session.mark_closed();
        for flight in self.lock_flights().fires.values() {
            if flight.session == session.name {
                flight.cancel.cancel();
            }
        }
        let remainder = session.session.close();
        if ends_all {
            remainder.end();
        }
        let left = remainder.list_running().len();
        let mut remainders = self
            .remainders
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        remainders.retain(|remainder| !remainder.list_running().is_empty());
        remainders.push(remainder);
        left
    }

    /// Counts an event in, if there is room.
    pub(crate) fn begin_fire(&self, session: &str) -> Result<(u64, CancelToken), RpcError> {
        let cancel = CancelToken::new().map_err(RpcError::failed)?;
        let mut flights = self.lock_flights();
        if flights.fires.len() >= MAX_FIRES {
            return Err(RpcError::new(
                BUSY,
                format!("{MAX_FIRES} events are under way"),
            ));
        }
        flights.next += 1;
        let number = flights.next;
        let flight = Flight {
            session: session.to_owned(),
            cancel: cancel.clone(),
        };
        flights.fires.insert(number, flight);
        Ok((number, cancel))
    }

    pub(crate) fn end_fire(&self, number: u64) {
        self.lock_flights().fires.remove(&number);
        self.landed.notify_all();
    }

    /// After an event: what happened meanwhile is said, and someone waits for
    /// handlers that go on.
    pub(crate) fn follow_up(self: &Arc<Self>, session: &Arc<Served>) {
        let waits = session.begin_waiting();
        // Behind that question: a handler that ended before it is said here, one that ends
        // after it by the thread that waits.
        session.send_notices();
        if !waits {
            return;
        }
        self.lock_flights().waiting += 1;
        let (server, waited) = (Arc::clone(self), Arc::clone(session));
        let thread = thread::Builder::new().name("background".into());
        let started = thread.spawn(move || {
            waited.wait_for_background();
            drop(waited);
            server.end_wait();
        });
        if started.is_err() {
            // Said with the next event instead.
            session.stop_waiting();
            self.end_wait();
        }
    }

    /// Watches the session's files in a thread until it is closed.
    pub(crate) fn start_watching(self: &Arc<Self>, session: &Arc<Served>) -> Result<(), RpcError> {
        let watcher = session.start_watcher().map_err(RpcError::failed)?;
        self.lock_flights().waiting += 1;
        let (server, kept) = (Arc::clone(self), Arc::clone(session));
        let thread = thread::Builder::new().name("watch".into());
        let started = thread.spawn(move || {
            kept.watch_files(watcher);
            drop(kept);
            server.end_wait();
        });
        started.map(|_| ()).map_err(|error| {
            self.end_wait();
            RpcError::failed(format!("no thread to watch files ({error})"))
        })
    }

    fn end_wait(&self) {
        self.lock_flights().waiting -= 1;
        self.landed.notify_all();
    }

    /// The host is gone: nothing that it started may stay.
    fn end(&self) {
        self.link.hang_up();
        let sessions = std::mem::take(&mut *self.lock_sessions());
        for session in sessions.values() {
            self.close_session(session, true);
        }
        drop(sessions);
        let landed = self
            .landed
            .wait_timeout_while(self.lock_flights(), END_TIMEOUT, |flights| {
                !flights.fires.is_empty() || flights.waiting > 0
            })
            .unwrap_or_else(PoisonError::into_inner);
        drop(landed);
        let remainders = std::mem::take(
            &mut *self
                .remainders
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for remainder in &remainders {
            remainder.end();
        }
        for remainder in &remainders {
            remainder.wait(END_TIMEOUT);
        }
    }

    fn lock_sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Served>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_flights(&self) -> MutexGuard<'_, Flights> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
