//! The user's `models.*` settings and environment become a provider. Only the
//! user's own file counts: nothing in a repository switches a model on or says
//! where it is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use remora_app::config::Config;
use remora_client::DataPaths;
use remora_core::model::{ModelError, ModelErrorKind};
use remora_model::{
    ANTHROPIC_HOST, ANTHROPIC_KEY_VAR, ANTHROPIC_PROVIDER, ApiFormat, COMMAND_LINE_PROVIDER,
    CommandLineConfig, CommandLineModel, DEFAULT_MODEL_VARS, Endpoint, HttpConfig, HttpModel,
    KeyFileError, ModelNames, NO_PROVIDER, OPENAI_HOST, OPENAI_KEY_VAR, Provider, RetryPolicy,
    Secret, USER_KEY_FILE, read_key_file,
};

use crate::environment::Environment;

/// A key for any provider. The providers' own variables are sent to their own
/// hosts alone.
const KEY_VARIABLE: &str = "REMORA_MODEL_KEY";
/// Proxies for addresses with TLS, in order.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// What is configured, without asking anything.
#[derive(Debug)]
pub(crate) struct ModelSettings {
    /// The provider as the user named it.
    pub(crate) provider: String,
    /// Where questions go: an address, or a program.
    pub(crate) target: String,
    /// The model for questions that name none; empty where the provider decides.
    pub(crate) model: String,
    /// Where the key comes from; `None` without one.
    pub(crate) key_source: Option<String>,
    /// The provider itself, or why there is none.
    pub(crate) built: Result<Provider, ModelError>,
}

/// What is configured; `None` while models are off.
pub(crate) fn read_settings(
    config: &Config,
    environment: &Environment,
    paths: &DataPaths,
) -> Option<ModelSettings> {
    let provider = config.get_text("models.provider");
    match provider {
        NO_PROVIDER => None,
        COMMAND_LINE_PROVIDER => Some(read_command_line(config, environment, paths)),
        _ => Some(read_endpoint(config, environment, provider)),
    }
}

fn read_endpoint(config: &Config, environment: &Environment, provider: &str) -> ModelSettings {
    let format = if provider == ANTHROPIC_PROVIDER {
        ApiFormat::Anthropic
    } else {
        ApiFormat::OpenAi
    };
    let address = Some(config.get_text("models.url")).filter(|url| !url.is_empty());
    let usual = match format {
        ApiFormat::Anthropic => remora_model::ANTHROPIC_ADDRESS,
        ApiFormat::OpenAi => remora_model::LOCAL_OPENAI_ADDRESS,
    };
    let names = read_names(config, environment, format == ApiFormat::Anthropic);
    let mut settings = ModelSettings {
        provider: provider.to_owned(),
        target: address.unwrap_or(usual).to_owned(),
        model: names.configured.clone().unwrap_or_default(),
        key_source: None,
        built: Err(not_configured("no address")),
    };
    let endpoint = match Endpoint::parse(format, address.unwrap_or(usual)) {
        Ok(endpoint) => endpoint,
        Err(why) => {
            settings.built = Err(not_configured(why));
            return settings;
        }
    };
    endpoint.url().clone_into(&mut settings.target);
    let key = match find_key(config, environment, format, endpoint.host()) {
        Ok(key) => key,
        Err(error) => {
            settings.built = Err(error);
            return settings;
        }
    };
    let (key, source) = key.unzip();
    settings.key_source = source;
    if format == ApiFormat::Anthropic && endpoint.host() == ANTHROPIC_HOST && key.is_none() {
        settings.built = Err(not_configured(format!(
            "no key: set {ANTHROPIC_KEY_VAR}, put it into ~/{USER_KEY_FILE}, or name a file with \
             `remora models use {ANTHROPIC_PROVIDER} --key-file FILE`"
        )));
        return settings;
    }
    let proxy = PROXY_VARIABLES
        .iter()
        .find_map(|name| environment.get(name)?.to_str())
        .map(str::to_owned);
    settings.built = HttpModel::new(HttpConfig {
        format,
        address: address.map(str::to_owned),
        key,
        proxy,
        names,
        retry: RetryPolicy::default(),
    })
    .map(Provider::Http);
    settings
}

fn read_command_line(
    config: &Config,
    environment: &Environment,
    paths: &DataPaths,
) -> ModelSettings {
    let names = read_names(config, environment, true);
    let model = names.configured.clone().unwrap_or_default();
    let here = environment
        .directory()
        .map_or(Path::new("/"), PathBuf::as_path);
    let path = environment.get("PATH").map(OsString::as_os_str);
    let program = CommandLineModel::find_program(path.unwrap_or(OsStr::new("")), here);
    let target = program.as_ref().map(|p| p.display().to_string());
    // Our own folder holds nothing of a project; before there is one, the root.
    let run_dir = paths.run_dir();
    let (cwd, lock_file) = if run_dir.is_dir() {
        (run_dir.clone(), Some(run_dir.join("model.lock")))
    } else {
        (PathBuf::from("/"), None)
    };
    ModelSettings {
        provider: COMMAND_LINE_PROVIDER.to_owned(),
        target: target.unwrap_or_default(),
        model,
        key_source: None,
        built: match program {
            None => Err(not_configured("the program is not on PATH")),
            Some(program) => Ok(Provider::CommandLine(CommandLineModel::new(
                CommandLineConfig {
                    program,
                    environment: environment.variables().to_vec(),
                    cwd,
                    lock_file,
                    names,
                },
            ))),
        },
    }
}

fn read_names(config: &Config, environment: &Environment, has_client_names: bool) -> ModelNames {
    let written = Some(config.get_text("models.model").to_owned()).filter(|name| !name.is_empty());
    // As the client whose hooks these are: its variables name the model for them.
    let variables = || {
        let mut names = DEFAULT_MODEL_VARS.iter();
        names.find_map(|name| environment.get(name)?.to_str().map(str::to_owned))
    };
    ModelNames {
        configured: written.or_else(|| has_client_names.then(variables).flatten()),
        replaced: config.get_table("models.names"),
    }
}

type FoundKey = (Secret, String);

/// The key and where it was found.
fn find_key(
    config: &Config,
    environment: &Environment,
    format: ApiFormat,
    host: &str,
) -> Result<Option<FoundKey>, ModelError> {
    let variable = |name: &str| -> Result<Option<FoundKey>, ModelError> {
        let Some(value) = environment.get(name) else {
            return Ok(None);
        };
        let key = value.to_str().and_then(Secret::new);
        let key = key.ok_or_else(|| not_configured(format!("{name} does not hold one key")))?;
        Ok(Some((key, format!("the variable {name}"))))
    };
    let file = |path: &Path| -> Result<Option<FoundKey>, ModelError> {
        match read_key_file(path) {
            Ok(key) => Ok(Some((key, path.display().to_string()))),
            Err(error) => Err(not_configured(format!("{}: {error}", path.display()))),
        }
    };
    if let Some(found) = variable(KEY_VARIABLE)? {
        return Ok(Some(found));
    }
    let written = config.get_text("models.key_file");
    if !written.is_empty() {
        return file(Path::new(written));
    }
    match (format, host) {
        (ApiFormat::Anthropic, ANTHROPIC_HOST) => {
            if let Some(found) = variable(ANTHROPIC_KEY_VAR)? {
                return Ok(Some(found));
            }
            let Some(home) = environment.home() else {
                return Ok(None);
            };
            let path = home.join(USER_KEY_FILE);
            match read_key_file(&path) {
                Err(KeyFileError::Missing) => Ok(None),
                _ => file(&path),
            }
        }
        (ApiFormat::OpenAi, OPENAI_HOST) => variable(OPENAI_KEY_VAR),
        _ => Ok(None),
    }
}

fn not_configured(why: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::NotConfigured, why)
}
