//! `remora models`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Switch a model on: from now on, hooks that ask one send it their event
    Use(ModelsUseArgs),
    /// Ask no model
    Off(ModelsShowArgs),
    /// Show what is configured, and where its key comes from
    Show(ModelsShowArgs),
    /// Ask the configured model one short question
    Test(ModelsTestArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ModelsUseArgs {
    /// The provider
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(PROVIDERS))]
    pub(crate) provider: String,
    /// Its address, such as `http://127.0.0.1:8080/v1`
    pub(crate) url: Option<String>,
    /// The model for questions that name none
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A file with the key, readable by you alone
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be switched on.
const PROVIDERS: [&str; 4] = [
    remora_model::COMMAND_LINE_PROVIDER,
    remora_model::ANTHROPIC_PROVIDER,
    remora_model::OPENAI_PROVIDER,
    remora_model::LOCAL_PROVIDER,
];

#[derive(Debug, ClapArgs)]
pub(crate) struct ModelsShowArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ModelsTestArgs {
    /// How many seconds it may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
