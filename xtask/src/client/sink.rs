//! Where `http` handlers post to: scripted answers by path, every request kept.
//!
//! The first segment of a path is the handler's id in logs, as `stub ID` is for commands.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Map, Value};

use super::http::{HttpRequest, HttpResponse, HttpServer};
use super::session::HandlerRun;

/// A running sink.
pub(super) struct HttpSink {
    server: HttpServer,
    runs: Arc<Mutex<Vec<HandlerRun>>>,
}

impl HttpSink {
    /// `answers`: path -> `{status, headers, body, delay_ms}`; unknown paths get 404.
    pub(super) fn start() -> Result<(Self, SinkAnswers)> {
        let runs = Arc::new(Mutex::new(Vec::new()));
        let answers = SinkAnswers::default();
        let (log, script) = (Arc::clone(&runs), answers.clone());
        let server = HttpServer::start(move |request| {
            log.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(to_handler_run(request));
            script.find_answer(&request.path)
        })?;
        Ok((Self { server, runs }, answers))
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    /// The requests since the last call.
    pub(super) fn drain_runs(&self) -> Vec<HandlerRun> {
        std::mem::take(&mut *self.runs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What to say; set after the start because a redirect may name the sink's own address.
#[derive(Clone, Default)]
pub(super) struct SinkAnswers(Arc<Mutex<Map<String, Value>>>);

impl SinkAnswers {
    pub(super) fn set_answers(&self, answers: Map<String, Value>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = answers;
    }

    fn find_answer(&self, path: &str) -> HttpResponse {
        let answer = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(path)
            .cloned();
        let Some(answer) = answer else {
            return HttpResponse::new(404, "text/plain", "no such answer");
        };
        if let Some(delay) = answer["delay_ms"].as_u64() {
            thread::park_timeout(Duration::from_millis(delay));
        }
        let status = answer["status"]
            .as_u64()
            .and_then(|code| u16::try_from(code).ok());
        let (content_type, body) = match &answer["body"] {
            Value::Null => ("text/plain", String::new()),
            Value::String(text) => ("text/plain", text.clone()),
            json => ("application/json", json.to_string()),
        };
        let mut response = HttpResponse::new(status.unwrap_or(200), content_type, body);
        for (name, value) in answer["headers"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap_or_default().to_owned();
            response.headers.push((name.clone(), value));
        }
        response
    }
}

fn to_handler_run(request: &HttpRequest) -> HandlerRun {
    let kept = |name: &str| name.starts_with("x-") || name == "content-type";
    HandlerRun {
        id: request.path.trim_matches('/').to_owned(),
        cwd: None,
        stdin: String::from_utf8_lossy(&request.body).into_owned(),
        headers: request
            .headers
            .iter()
            .filter(|(name, _)| kept(name))
            .cloned()
            .collect(),
    }
}
