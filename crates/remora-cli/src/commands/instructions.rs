//! `remora instructions`: what is in the prompt, and why.

mod approve;
mod lint;
mod load;
mod tree;
mod why;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remora_files::{MAX_SETTINGS_BYTES, read_text};
use remora_hooks::names;
use remora_instructions::{
    ExternalImports, InstructionKind, InstructionOptions, InstructionPaths, InstructionSources,
    Instructions, LoadMode, LoadedFile, normalise_path, render,
};
use remora_notes::check::{self, CheckCache, ClaimVerdict};
use serde_json::Value;

use crate::args::{
    InstructionSessionArgs, InstructionsCommand as Command, InstructionsFormat,
    InstructionsShowArgs,
};
use crate::commands::data::usable_paths;
use crate::commands::memory;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::settings;

pub(super) fn run(command: &Command, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        Command::Show(args) => run_show(args, out),
        Command::Approve(args) => approve::run(args, out),
        Command::Load(args) => load::run(args, out),
        Command::Why(args) => why::run(args, out),
        Command::Lint(args) => lint::run(args, out),
    }
}

fn run_show(args: &InstructionsShowArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let mut instructions = args.place.load_instructions(&environment)?;
    let batches = args.place.replay_reads(&mut instructions);
    let doubts = CachedVerdicts::for_instructions(&instructions, &environment);
    let format = if args.json {
        InstructionsFormat::Json
    } else {
        args.format
    };
    match format {
        InstructionsFormat::Json => {
            let mut all = render::instructions_to_json(&instructions);
            doubts.add_to(&mut all, &instructions);
            out.print_json(&all)?;
        }
        InstructionsFormat::Prompt => {
            out.print_text(&render::render_prompt(instructions.start()))?;
            for batch in &batches {
                out.print_text(&render::render_on_demand(batch))?;
            }
        }
        InstructionsFormat::System => {
            let parts = render::build_system_prompt(&instructions);
            for (number, part) in parts.iter().enumerate() {
                let gap = if number == 0 { "" } else { "\n" };
                out.print_text(&format!(
                    "{gap}<!-- {}: {} -->\n{}",
                    part.name, part.source, part.text
                ))?;
            }
        }
        InstructionsFormat::Tree => {
            let text = tree::render_tree(&instructions, &doubts, args.budget, out);
            out.print_text(&text)?;
        }
    }
    Ok(Exit::GoOn)
}

/// What the last `memory check` said of memories in the prompt.
struct CachedVerdicts(Option<CheckCache>);

impl CachedVerdicts {
    fn for_instructions(instructions: &Instructions, environment: &Environment) -> Self {
        let paths = usable_paths(environment).ok();
        Self(paths.map(|paths| memory::load_check_cache(&paths, instructions.checkout_root())))
    }

    /// Only of memories that are there with their own words.
    fn verdict_for(&self, file: &LoadedFile) -> Option<ClaimVerdict> {
        let saved = matches!(
            file.kind,
            InstructionKind::AutoMem | InstructionKind::TeamMem
        );
        let cached = self.0.as_ref().filter(|_| saved && file.parent.is_some())?;
        cached
            .last_findings(&file.content)
            .map(|f| check::combine_verdicts(&f))
    }

    fn add_to(&self, all: &mut Value, instructions: &Instructions) {
        let files = instructions
            .start()
            .iter()
            .chain(instructions.loaded_on_demand());
        for (number, file) in files.enumerate() {
            if let Some(verdict) = self.verdict_for(file) {
                all["files"][number]["check"] = verdict.as_str().into();
            }
        }
    }
}

/// Flags and environment, resolved.
pub(super) struct ResolvedSession {
    pub(super) places: InstructionPaths,
    pub(super) options: InstructionOptions,
}

impl InstructionSessionArgs {
    /// What is in the prompt when the session begins.
    pub(super) fn load_instructions(
        &self,
        environment: &Environment,
    ) -> Result<Instructions, CliError> {
        let resolved = self.resolve(environment)?;
        Ok(Instructions::load(resolved.places, resolved.options))
    }

    /// Plays the session's reads; what each brought in.
    pub(super) fn replay_reads(&self, instructions: &mut Instructions) -> Vec<Vec<LoadedFile>> {
        let reads = self.read.iter();
        reads
            .map(|file| instructions.on_read(&resolve_touched_file(file, instructions)))
            .collect()
    }

    pub(super) fn resolve(&self, environment: &Environment) -> Result<ResolvedSession, CliError> {
        let usage = |text: &str| CliError::Usage(text.to_owned());
        let here = || {
            environment
                .directory()
                .cloned()
                .ok_or_else(|| usage("the current directory is gone; pass --cwd DIR"))
        };
        let absolute = |path: &Path| -> Result<PathBuf, CliError> {
            if path.is_absolute() {
                Ok(normalise_path(path))
            } else {
                Ok(normalise_path(&here()?.join(path)))
            }
        };
        let cwd = self.directory.resolve(environment)?;
        let home = match &self.home {
            Some(dir) => absolute(dir)?,
            None => environment
                .home()
                .ok_or_else(|| usage("$HOME is not set; pass --home DIR"))?,
        };
        let mut places = InstructionPaths::new(cwd, home);
        places.config_dir = environment.get(names::CONFIG_DIR_VAR).map(PathBuf::from);
        places.managed = Some(match &self.managed {
            Some(dir) => absolute(dir)?,
            None => PathBuf::from(names::MANAGED_SETTINGS_DIR),
        });
        for dir in &self.add_dir {
            places.added.push(absolute(dir)?);
        }
        let data = usable_paths(environment).ok();
        places.user_memories = data.as_ref().map(|paths| paths.home().join("memory"));
        let mut options = InstructionOptions {
            variables: read_client_variables(environment),
            agent: self.agent.clone(),
            ..InstructionOptions::default()
        };
        if let Some(list) = &self.setting_sources {
            let sources = settings::parse_sources(list)?;
            options.sources = InstructionSources {
                user: sources.user,
                project: sources.project,
                local: sources.local,
            };
        }
        let bare = self.bare
            || environment.is_on(names::SIMPLE_VAR)
            || environment.is_on(names::SAFE_MODE_VAR);
        if bare {
            options.mode = LoadMode::Bare;
        }
        options.settings = self
            .settings
            .as_deref()
            .map(|text| flag_settings(text, &absolute))
            .transpose()?;
        let root = remora_instructions::project_root(&places.cwd);
        if data.is_some_and(|paths| approve::is_approved(&paths, &root)) {
            options.external = ExternalImports::Approved;
        }
        Ok(ResolvedSession { places, options })
    }
}

/// A file as the session would name it; else as this shell does.
pub(super) fn resolve_touched_file(file: &Path, instructions: &Instructions) -> PathBuf {
    let there = instructions.cwd().join(file);
    match std::path::absolute(file) {
        Ok(here) if here.exists() && !there.exists() => here,
        _ => there,
    }
}

/// The text of `--settings`, which is JSON or names a file.
fn flag_settings(
    text: &str,
    absolute: &dyn Fn(&Path) -> Result<PathBuf, CliError>,
) -> Result<String, CliError> {
    if text.trim().is_empty() {
        return Err(CliError::Usage(
            "--settings is empty; give a file or a JSON object".to_owned(),
        ));
    }
    let (name, json) = if text.trim_start().starts_with('{') {
        ("--settings".to_owned(), text.to_owned())
    } else {
        let path = absolute(Path::new(text))?;
        let json = read_text(&path, MAX_SETTINGS_BYTES).map_err(|e| CliError::File {
            path: path.clone(),
            source: e.into(),
        })?;
        (path.display().to_string(), json)
    };
    match serde_json::from_str::<Value>(&json) {
        Ok(_) => Ok(json),
        Err(e) => Err(CliError::Usage(format!(
            "{name}: the JSON is not valid ({e})"
        ))),
    }
}

/// The client's variables of this process.
fn read_client_variables(environment: &Environment) -> BTreeMap<String, String> {
    let named = remora_instructions::CLIENT_VARIABLES.iter();
    named
        .filter_map(|name| {
            let value = environment.get(name)?.to_str()?;
            Some(((*name).to_owned(), value.to_owned()))
        })
        .collect()
}
