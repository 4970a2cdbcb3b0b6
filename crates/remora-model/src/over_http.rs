//! One question over HTTP: sent, retried where that is worth it, read within its
//! bounds, and its failures named.

use std::time::{Duration, Instant};

use remora_core::model::{ModelError, ModelErrorKind, ModelReply, ModelRequest};
use serde_json::Value;
use ureq::Agent;
use ureq::http::{Response, StatusCode};

use crate::names::{ANTHROPIC_ADDRESS, LOCAL_OPENAI_ADDRESS, SMALL_MODEL};
use crate::wire::{Endpoint, anthropic, openai};
use crate::{ModelNames, RetryPolicy, Secret, run_lookup};

/// The longest answer that is read.
const MAX_REPLY_BYTES: u64 = 4 << 20;
/// How much of a provider's own words an error quotes.
const MAX_QUOTED_CHARS: usize = 300;

/// Which format an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiFormat {
    /// Anthropic's Messages API.
    Anthropic,
    /// `OpenAI`'s chat completions, which most model servers speak.
    OpenAi,
}

/// How an endpoint is reached.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Its format.
    pub format: ApiFormat,
    /// Its address; the format's own where there is none.
    pub address: Option<String>,
    /// The key, if it wants one.
    pub key: Option<Secret>,
    /// The proxy for addresses with TLS.
    pub proxy: Option<String>,
    /// Which models are asked.
    pub names: ModelNames,
    /// What happens to failed requests.
    pub retry: RetryPolicy,
}

/// A model behind an endpoint.
#[derive(Debug)]
pub struct HttpModel {
    format: ApiFormat,
    endpoint: Endpoint,
    key: Option<Secret>,
    proxy: Option<String>,
    names: ModelNames,
    retry: RetryPolicy,
}

impl HttpModel {
    /// Checks the configuration; asks nothing.
    pub fn new(config: HttpConfig) -> Result<Self, ModelError> {
        let usual = match config.format {
            ApiFormat::Anthropic => ANTHROPIC_ADDRESS,
            ApiFormat::OpenAi => LOCAL_OPENAI_ADDRESS,
        };
        let address = config.address.as_deref().unwrap_or(usual);
        let endpoint = Endpoint::parse(config.format, address)
            .map_err(|why| ModelError::new(ModelErrorKind::NotConfigured, why))?;
        if config.key.is_some() && !endpoint.keeps_secrets() {
            return Err(ModelError::new(
                ModelErrorKind::NotConfigured,
                "a key is sent over https only, or to this machine",
            ));
        }
        let mut names = config.names;
        if config.format == ApiFormat::Anthropic && names.configured.is_none() {
            names.configured = Some(SMALL_MODEL.to_owned());
        }
        Ok(Self {
            format: config.format,
            proxy: config.proxy.filter(|_| endpoint.has_tls()),
            endpoint,
            key: config.key,
            names,
            retry: config.retry,
        })
    }

    /// Where questions are sent.
    pub fn address(&self) -> &str {
        self.endpoint.url()
    }

    pub(crate) fn complete(
        &self,
        request: &ModelRequest,
        deadline: Instant,
    ) -> Result<ModelReply, ModelError> {
        let Some(model) = self.names.find_name(&request.model) else {
            return Err(ModelError::new(
                ModelErrorKind::NotConfigured,
                "no model is named: set models.model",
            ));
        };
        let mut attempt = 1;
        let mut body = self.encode(request, &model);
        let mut has_schema = request.output_schema.is_some();
        loop {
            let SendError { error, is_final } = match self.send(&body, deadline) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            // Endpoints that know no schema refuse the whole request. The answer is checked
            // by the caller in any case.
            if error.kind == ModelErrorKind::BadRequest && has_schema {
                has_schema = false;
                let plain = ModelRequest {
                    output_schema: None,
                    ..request.clone()
                };
                body = self.encode(&plain, &model);
                continue;
            }
            if is_final {
                return Err(error);
            }
            let now = Instant::now();
            let Some(delay) = self.retry.next_delay(attempt, &error, now, deadline) else {
                return Err(error);
            };
            pause(delay);
            attempt += 1;
        }
    }

    fn encode(&self, request: &ModelRequest, model: &str) -> String {
        match self.format {
            ApiFormat::Anthropic => anthropic::encode(request, model).to_string(),
            ApiFormat::OpenAi => openai::encode(request, model, &self.endpoint).to_string(),
        }
    }

    fn send(&self, body: &str, deadline: Instant) -> Result<ModelReply, SendError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(timed_out().into());
        }
        let config = Agent::config_builder()
            // One limit for connecting, sending and reading together.
            .timeout_global(Some(left))
            // A redirect could carry the question, and the key, elsewhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            // Never from the environment, which a project may have set.
            .proxy(self.proxy()?)
            .build();
        let agent = remora_http::build_agent(config, run_lookup);
        let mut post = agent
            .post(self.endpoint.url())
            .header("content-type", "application/json");
        let headers = match self.format {
            ApiFormat::Anthropic => anthropic::headers(self.key.as_ref()),
            ApiFormat::OpenAi => openai::headers(self.key.as_ref()),
        };
        for (name, value) in &headers {
            post = post.header(*name, value);
        }
        let mut response = post.send(body).map_err(|e| self.connection_error(&e))?;
        let status = response.status();
        let text = read_body(&mut response).map_err(|e| self.connection_error(&e));
        if !status.is_success() {
            return Err(status_error(status, &response, &text.unwrap_or_default()));
        }
        let value: Value = serde_json::from_str(&text?).map_err(|e| {
            ModelError::new(
                ModelErrorKind::Malformed,
                format!("the answer is not JSON ({e})"),
            )
        })?;
        let reply = match self.format {
            ApiFormat::Anthropic => anthropic::decode(&value),
            ApiFormat::OpenAi => openai::decode(&value),
        };
        Ok(reply.map_err(|why| ModelError::new(ModelErrorKind::Malformed, why))?)
    }

    fn proxy(&self) -> Result<Option<ureq::Proxy>, ModelError> {
        let parse = |address: &String| {
            // The address may hold a password.
            ureq::Proxy::new(address).map_err(|_| {
                ModelError::new(
                    ModelErrorKind::NotConfigured,
                    "the proxy's address is not valid",
                )
            })
        };
        self.proxy.as_ref().map(parse).transpose()
    }

    fn connection_error(&self, error: &ureq::Error) -> ModelError {
        match error {
            ureq::Error::Timeout(_) => timed_out(),
            ureq::Error::BodyExceedsLimit(_) => ModelError::new(
                ModelErrorKind::TooLarge,
                format!("the answer is longer than {} MiB", MAX_REPLY_BYTES >> 20),
            ),
            other => ModelError::new(
                ModelErrorKind::Connection,
                format!("{}: {other}", self.endpoint.url()),
            ),
        }
    }
}

/// Why one request failed, and whether the provider rules another one out.
struct SendError {
    error: ModelError,
    is_final: bool,
}

impl From<ModelError> for SendError {
    fn from(error: ModelError) -> Self {
        Self {
            error,
            is_final: false,
        }
    }
}

fn timed_out() -> ModelError {
    ModelError::new(ModelErrorKind::Timeout, "no answer before the deadline")
}

/// Text that is not UTF-8 fails as JSON or is quoted with marks.
fn read_body(response: &mut Response<ureq::Body>) -> Result<String, ureq::Error> {
    let bytes = response
        .body_mut()
        .with_config()
        .limit(MAX_REPLY_BYTES)
        .read_to_vec()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn status_error(status: StatusCode, response: &Response<ureq::Body>, body: &str) -> SendError {
    let kind = match status.as_u16() {
        401 | 403 => ModelErrorKind::Auth,
        429 | 529 => ModelErrorKind::RateLimited,
        408 | 409 | 500..=599 => ModelErrorKind::Server,
        _ => ModelErrorKind::BadRequest,
    };
    let header = |name: &str| {
        let value = response.headers().get(name)?;
        value.to_str().ok().map(str::trim)
    };
    let retry_after = header("retry-after-ms")
        .and_then(|ms| ms.parse().ok().map(Duration::from_millis))
        // A date is not read; the usual back-off applies then.
        .or_else(|| header("retry-after")?.parse().ok().map(Duration::from_secs));
    let said = find_error_text(body);
    let separator = if said.is_empty() { "" } else { ": " };
    SendError {
        error: ModelError {
            retry_after,
            ..ModelError::new(kind, format!("{}{separator}{said}", status.as_u16()))
        },
        // The provider knows that another try is of no use.
        is_final: header("x-should-retry") == Some("false"),
    }
}

/// The provider's own words, one line of them.
fn find_error_text(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let text = [
        &value["error"]["message"],
        &value["error"],
        &value["message"],
    ]
    .into_iter()
    .find_map(Value::as_str)
    .unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_shown = |c: &char| !c.is_control();
    line.chars()
        .filter(is_shown)
        .take(MAX_QUOTED_CHARS)
        .collect()
}

/// The provider wants a pause: nothing happens that could be waited for.
fn pause(delay: Duration) {
    let end = Instant::now() + delay;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}
