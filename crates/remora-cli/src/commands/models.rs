//! `remora models`: which model answers hooks. Off until the user switches one on.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use remora_app::config::{self, Config};
use remora_app::worker_lock::prepare_data_dir;
use remora_client::DataPaths;
use remora_core::model::{Model, ModelChoice, ModelMessage, ModelReply, ModelRequest};
use remora_model::{
    ANTHROPIC_PROVIDER, COMMAND_LINE_PROVIDER, LOCAL_OPENAI_ADDRESS, LOCAL_PROVIDER, NO_PROVIDER,
    OPENAI_PROVIDER,
};
use serde_json::{Value, json};

use crate::args::{ModelsCommand as Command, ModelsTestArgs, ModelsUseArgs};
use crate::commands::config::edit_config_file;
use crate::commands::data::{DataDir, usable_paths};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::model_provider::{ModelSettings, read_settings};
use crate::output::{Output, escape_invisible};

/// What a test asks.
const TEST_QUESTION: &str = "Answer with the JSON object {\"ok\": true} and nothing else.";

pub(crate) fn run(command: &Command, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let paths = usable_paths(&environment)?;
    match command {
        Command::Use(args) => run_use(&paths, &environment, args, out),
        Command::Off(args) => {
            edit_config_file(&paths, |text| config::remove_value(text, "models.provider"))?;
            show(&paths, &environment, args.json, out)
        }
        Command::Show(args) => show(&paths, &environment, args.json, out),
        Command::Test(args) => run_test(&paths, &environment, args, out),
    }
}

fn run_use(
    paths: &DataPaths,
    environment: &Environment,
    args: &ModelsUseArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    // An agent does not decide who reads what the user works on.
    DataDir::with_default_config()?
        .app
        .require_user("a model is switched on")?;
    let usage = |text: &str| CliError::Usage(text.to_owned());
    let (provider, url) = match (args.provider.as_str(), args.url.as_deref()) {
        (LOCAL_PROVIDER, url) => (OPENAI_PROVIDER, url.unwrap_or(LOCAL_OPENAI_ADDRESS)),
        (OPENAI_PROVIDER, None) => {
            return Err(usage(
                "name the address too, such as http://127.0.0.1:8080/v1",
            ));
        }
        (COMMAND_LINE_PROVIDER, Some(_)) => {
            return Err(usage("a command line has no address"));
        }
        (ANTHROPIC_PROVIDER | COMMAND_LINE_PROVIDER, url) => {
            (args.provider.as_str(), url.unwrap_or_default())
        }
        (_, url) => (OPENAI_PROVIDER, url.unwrap_or_default()),
    };
    if provider == OPENAI_PROVIDER && args.model.is_none() {
        return Err(usage("name the model too: --model NAME"));
    }
    let key_file = match &args.key_file {
        None => String::new(),
        Some(path) => std::path::absolute(path)
            .map_err(|source| CliError::File {
                path: path.clone(),
                source,
            })?
            .display()
            .to_string(),
    };
    prepare_data_dir(paths)?;
    let values = [
        ("models.provider", provider),
        ("models.url", url),
        ("models.model", args.model.as_deref().unwrap_or_default()),
        ("models.key_file", &key_file),
    ];
    // All or nothing: a provider with the address of another one must never be there.
    edit_config_file(paths, |text| {
        let mut text = text.to_owned();
        for (name, value) in values {
            text = if value.is_empty() {
                config::remove_value(&text, name)?
            } else {
                config::set_value(&text, name, &[value.to_owned()])?
            };
        }
        Ok(text)
    })?;
    show(paths, environment, args.json, out)
}

fn show(
    paths: &DataPaths,
    environment: &Environment,
    json: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let config = Config::load(&paths.config_file())?;
    let settings = read_settings(&config, environment, paths);
    if json {
        out.print_json(&settings.as_ref().map_or_else(
            || json!({"provider": NO_PROVIDER, "ready": false}),
            |settings| describe(settings, &config),
        ))?;
        return Ok(Exit::GoOn);
    }
    let Some(settings) = settings else {
        out.print_text(
            "No model is asked: hooks that need one are skipped.\n\
             `remora models use PROVIDER` switches one on.\n",
        )?;
        return Ok(Exit::GoOn);
    };
    let shown = |text: &str, none: &str| {
        if text.is_empty() {
            none.to_owned()
        } else {
            escape_invisible(text)
        }
    };
    out.print_text(&format!(
        "provider  {}\nat        {}\nmodel     {}\nkey       {}\n",
        settings.provider,
        shown(&settings.target, "not found"),
        shown(&settings.model, "the provider's small one"),
        shown(settings.key_source.as_deref().unwrap_or_default(), "none"),
    ))?;
    match &settings.built {
        Ok(_) => out.print_text(
            "Hooks of type prompt and agent send it their event, also those of a project that \
             you trust.\n",
        )?,
        Err(error) => out.print_text(&format!("not ready: {}\n", error.message))?,
    }
    Ok(Exit::GoOn)
}

fn describe(settings: &ModelSettings, config: &Config) -> Value {
    json!({
        "provider": settings.provider,
        "at": settings.target,
        "model": settings.model,
        "key": settings.key_source,
        "names": config.get_table("models.names").into_iter().collect::<BTreeMap<_, _>>(),
        "verifier_shell": config.get_flag("models.verifier_shell"),
        "ready": settings.built.is_ok(),
        "why_not": settings.built.as_ref().err().map(|error| error.message.clone()),
    })
}

fn run_test(
    paths: &DataPaths,
    environment: &Environment,
    args: &ModelsTestArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let config = Config::load(&paths.config_file())?;
    let Some(settings) = read_settings(&config, environment, paths) else {
        return Err(CliError::Usage(
            "no model is configured; `remora models use PROVIDER` switches one on".to_owned(),
        ));
    };
    crate::signals::watch_signals(None)?;
    let provider = settings.built?;
    let request = ModelRequest {
        system: "You answer a connection test.".to_owned(),
        messages: vec![ModelMessage::User(TEST_QUESTION.to_owned())],
        tools: Vec::new(),
        output_schema: Some(json!({
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": false,
        })),
        model: ModelChoice::Configured,
        max_tokens: 1_000,
    };
    let started = Instant::now();
    let reply = provider.complete(&request, started + Duration::from_secs(args.timeout))?;
    let took = started.elapsed().as_millis();
    let ModelReply {
        text, model, usage, ..
    } = reply;
    let is_expected = serde_json::from_str(text.trim()).is_ok_and(|v: Value| v["ok"] == true);
    if args.json {
        out.print_json(&json!({
            "ok": is_expected,
            "text": text,
            "model": model,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "ms": took,
        }))?;
    } else {
        let verdict = if is_expected {
            "It answers as asked."
        } else {
            "It answers, but not with the JSON that was asked for: prompt hooks may fail."
        };
        out.print_text(&format!(
            "{verdict}\nmodel     {}\ntokens    {} read, {} written\ntook      {took} ms\n",
            escape_invisible(&model),
            usage.input_tokens,
            usage.output_tokens,
        ))?;
    }
    Ok(if is_expected {
        Exit::GoOn
    } else {
        Exit::Failed
    })
}
