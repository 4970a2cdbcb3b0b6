//! Search by embeddings: whether the encoder works, and how many items wait for it.

use std::fmt::Write;
use std::time::Instant;

use remora_embed::{EmbedError, LazyEncoder, MODEL_ID};
use remora_memory::store::{Store, StoreError};
use remora_store::Access;

use super::{Diagnosis, DoctorContext, quote_path};
use crate::commands::show::lines::{flatten_text, format_count, format_number};
use remora_app::status::{WorkerState, query_worker};

use remora_app::config::Config;

pub(super) fn check_search(patient: &DoctorContext) -> Option<Diagnosis> {
    // What is wrong with the configuration is reported elsewhere.
    let config = Config::load(&patient.paths.config_file()).ok()?;
    let Some(encoder) = remora_app::build_encoder(&config) else {
        return Some(Diagnosis::ok(
            "search",
            "by words only: search.model is off",
        ));
    };
    if let Err(e) = encoder.encode(&["one short text"], Instant::now()) {
        return Some(diagnose_encoder_error(patient, &config, &e));
    }
    drop::<LazyEncoder>(encoder);
    let name = match config.get_text("search.model") {
        "built-in" => format!("the built-in model ({MODEL_ID})"),
        path => format!("{path} ({MODEL_ID})"),
    };
    let Some((embedded, waiting)) = count_vectors(patient) else {
        return Some(Diagnosis::ok("search", format!("{name} works")));
    };
    let mut message = format!(
        "{name} works; {} a vector of it, {}",
        format_count(embedded, "item has", "items have"),
        match waiting {
            1 => "1 waits".to_owned(),
            waiting => format!("{} wait", format_number(waiting)),
        }
    );
    // The worker has loaded the model by itself, maybe at a worse time.
    if let WorkerState::Runs(reply) = query_worker(&patient.paths) {
        if reply.unembeddable > 0 {
            let rows = format_count(reply.unembeddable, "item", "items");
            let _ = write!(message, "; it failed on {rows}, found by words only");
        }
        if let Some(trouble) = &reply.embedding_trouble {
            let message = format!("{message}; the worker: {}", flatten_text(trouble));
            return Some(Diagnosis::warn(
                "search",
                message,
                "it tries again by itself; `remora worker restart` tries now",
            ));
        }
    }
    Some(if waiting > 0 && !config.get_flag("search.background") {
        Diagnosis::warn(
            "search",
            format!("{message}, and search.background is off"),
            "`remora rebuild --vectors --missing`",
        )
    } else {
        Diagnosis::ok("search", message)
    })
}

fn diagnose_encoder_error(
    patient: &DoctorContext,
    config: &Config,
    error: &EmbedError,
) -> Diagnosis {
    let file = patient.paths.config_file();
    let fix = match (error, config.get_text("search.model")) {
        (EmbedError::NotBuiltIn, _) => format!(
            "put the path of the model's file into `search.model` in {}, or `remora config set search.model off`",
            quote_path(&file)
        ),
        (_, "built-in") => "`remora config set search.model off`, and tell us".to_owned(),
        _ => format!("correct `search.model` in {}", quote_path(&file)),
    };
    let reason = flatten_text(&error.to_string());
    Diagnosis::warn("search", format!("by words only: {reason}"), fix)
}

/// Items with and without a vector. A database that cannot be read is told of
/// elsewhere.
fn count_vectors(patient: &DoctorContext) -> Option<(u64, u64)> {
    let file = patient.paths.database_file();
    if !file.exists() {
        return None;
    }
    let looked = remora_server::open_database(&file, Access::Read).and_then(|store| {
        let waiting = store.unembedded_count(MODEL_ID)?;
        let rows = remora_app::count_items(&store.count_contents()?);
        Ok::<_, StoreError>((rows.saturating_sub(waiting), waiting))
    });
    looked.ok()
}
