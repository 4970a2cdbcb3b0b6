//! Search by meaning: whether the model works, and how many rows wait for it.

use std::time::Instant;

use remora_embed::{EmbedError, MODEL, OnDemand};
use remora_memory::store::{Store, StoreError};
use remora_store::Access;

use super::{Check, Patient, quoted};
use crate::commands::show::lines::{count, flat, number};
use crate::commands::tier;
use crate::config::Config;

pub(super) fn check(patient: &Patient) -> Option<Check> {
    // What is wrong with the configuration is told elsewhere.
    let config = Config::load(&patient.paths.config()).ok()?;
    let Some(encoder) = tier::encoder(&config) else {
        return Some(Check::ok("search", "by words only: search.model is off"));
    };
    if let Err(e) = encoder.encode(&["one short text"], Instant::now()) {
        return Some(broken(patient, &config, &e));
    }
    drop::<OnDemand>(encoder);
    let name = match config.text("search.model") {
        "built-in" => format!("the built-in model ({MODEL})"),
        path => format!("{path} ({MODEL})"),
    };
    let Some((embedded, waiting)) = rows(patient) else {
        return Some(Check::ok("search", format!("{name} works")));
    };
    let message = format!(
        "{name} works; {} a vector of it, {}",
        count(embedded, "row has", "rows have"),
        match waiting {
            1 => "1 waits".to_owned(),
            waiting => format!("{} wait", number(waiting)),
        }
    );
    Some(if waiting > 0 && !config.flag("search.background") {
        Check::warn(
            "search",
            format!("{message}, and search.background is off"),
            "`remora rebuild --vectors --missing`",
        )
    } else {
        Check::ok("search", message)
    })
}

fn broken(patient: &Patient, config: &Config, error: &EmbedError) -> Check {
    let file = patient.paths.config();
    let fix = match (error, config.text("search.model")) {
        (EmbedError::NotBuiltIn, _) => format!(
            "put the path of the model's file into `search.model` in {}, or `remora config set search.model off`",
            quoted(&file)
        ),
        (_, "built-in") => "`remora config set search.model off`, and tell us".to_owned(),
        _ => format!("correct `search.model` in {}", quoted(&file)),
    };
    let reason = flat(&error.to_string());
    Check::warn("search", format!("by words only: {reason}"), fix)
}

/// Rows with and without a vector. A database that cannot be read is told of
/// elsewhere.
fn rows(patient: &Patient) -> Option<(u64, u64)> {
    let file = patient.paths.database();
    if !file.exists() {
        return None;
    }
    let looked = remora_store::open(&file, Access::Read).and_then(|store| {
        let waiting = store.unembedded_count(MODEL)?;
        let rows = tier::rows(&store.counts()?);
        Ok::<_, StoreError>((rows.saturating_sub(waiting), waiting))
    });
    looked.ok()
}
