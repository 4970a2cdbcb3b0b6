//! The command line of `remora conformance`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// The text under the flags of `remora conformance`.
const CONFORMANCE_HELP: &str =
    "Plays what the real client did against any engine: settings, handlers and an event are
laid out in a folder, and CMD is asked once a case. It reads a request on stdin (paths,
switches, environment, event), runs the handlers, and prints {\"outcome\": {…}} with the
fields of `remora hooks run --json`, or {\"refused\": \"why\"} if it would not start. Which
handlers ran is seen from what they wrote themselves.

  remora conformance --engine './my-engine --case'
  remora conformance --engine 'remora conformance --as-engine'      this engine itself

The cases are those of the repository, fixtures/hooks/recorded.json; they are not part of
the program. The exit code is 1 if a case differs. The format: docs/guide/hooks.md.";

#[derive(Debug, ClapArgs)]
#[command(after_help = CONFORMANCE_HELP)]
pub(crate) struct ConformanceArgs {
    /// The engine's command line, run by sh once a case
    #[arg(long, value_name = "CMD", required_unless_present = "as_engine")]
    pub(crate) engine: Option<String>,
    /// The recorded cases
    #[arg(
        long,
        value_name = "FILE",
        default_value = "fixtures/hooks/recorded.json"
    )]
    pub(crate) cases: PathBuf,
    /// Only cases whose name or family holds this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// How many cases are played at once [default: two a core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer one request on stdin with this engine
    #[arg(long, conflicts_with_all = ["engine", "json", "filter", "jobs"])]
    pub(crate) as_engine: bool,
}
