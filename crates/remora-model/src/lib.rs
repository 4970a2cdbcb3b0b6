//! Providers of language models: Anthropic's Messages API, any OpenAI-compatible
//! endpoint, and the user's own command line of an agent.
//!
//! A crate of its own, because it is the only one that may send what a user
//! works on to a model. It is asked through `remora_core::model::Model`, blocks
//! until the deadline at most, bounds what it reads, and retries what is worth
//! it. It reads no environment: keys and addresses are passed in, and a key is
//! never printed, logged or stored (`docs/design/0033`).
#![forbid(unsafe_code)]

mod child;
mod command_line;
mod names;
mod over_http;
mod retry;
mod secret;
mod text_tools;
mod wire;

use std::time::Instant;

use remora_core::model::{Model, ModelChoice, ModelError, ModelReply, ModelRequest};

pub use child::{end_all_children, run_lookup};
pub use command_line::{CommandLineConfig, CommandLineModel};
pub use names::{
    ANTHROPIC_ADDRESS, ANTHROPIC_HOST, ANTHROPIC_KEY_VAR, ANTHROPIC_PROVIDER,
    COMMAND_LINE_PROVIDER, DEFAULT_MODEL_VARS, LOCAL_OPENAI_ADDRESS, LOCAL_PROVIDER, NO_PROVIDER,
    OPENAI_HOST, OPENAI_KEY_VAR, OPENAI_PROVIDER, PROVIDER_WORDS, SMALL_MODEL, USER_KEY_FILE,
};
pub use over_http::{ApiFormat, HttpConfig, HttpModel};
pub use retry::RetryPolicy;
pub use secret::{KeyFileError, Secret, read_key_file};
pub use wire::Endpoint;

/// Which name is sent for which choice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelNames {
    /// The model for questions that name none.
    pub configured: Option<String>,
    /// Names in questions, and what the user wants sent in their place.
    pub replaced: Vec<(String, String)>,
}

impl ModelNames {
    /// The name to send. `None` where nothing is configured and nothing named.
    fn find_name(&self, choice: &ModelChoice) -> Option<String> {
        let replaced = |name: &str| {
            let mut rows = self.replaced.iter();
            rows.find(|(from, _)| from == name)
                .map(|(_, to)| to.clone())
        };
        match choice {
            ModelChoice::Configured => self.configured.clone(),
            ModelChoice::Named(name) => Some(replaced(name).unwrap_or_else(|| name.clone())),
            ModelChoice::Alias(name) => {
                let known = names::MODEL_ALIASES.iter().find(|(alias, _)| alias == name);
                Some(
                    replaced(name)
                        .or_else(|| known.map(|(_, full)| (*full).to_owned()))
                        .unwrap_or_else(|| name.clone()),
                )
            }
        }
    }
}

/// A configured provider.
#[derive(Debug)]
pub enum Provider {
    /// Over HTTP.
    Http(HttpModel),
    /// A program of the user's.
    CommandLine(CommandLineModel),
}

impl Model for Provider {
    fn complete(
        &self,
        request: &ModelRequest,
        deadline: Instant,
    ) -> Result<ModelReply, ModelError> {
        match self {
            Self::Http(model) => model.complete(request, deadline),
            Self::CommandLine(model) => model.complete(request, deadline),
        }
    }
}
