//! `remora pin`: items that every session of their project begins with.

use remora_app::corrections::PinsResponse;

use crate::args::PinArgs;
use crate::commands::data::open_app;
use crate::commands::show::lines::{flatten_text, format_count, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Output, Style};

pub(super) fn run(args: &PinArgs, out: &mut Output) -> Result<Exit, CliError> {
    let app = open_app()?;
    let Some(name) = &args.item else {
        return print_pins(&app.list_pins(None)?, args.json, out);
    };
    let done = if args.off {
        app.unpin_item(name)?
    } else {
        app.pin_item(name)?
    };
    if args.json {
        out.print_json(&done)?;
        return Ok(Exit::GoOn);
    }
    let item = &done.item;
    let verb = if done.pinned {
        "pinned"
    } else {
        "no longer pinned"
    };
    let title = flatten_text(&item.title);
    let head = format!("{verb}: #{} {} · {title}", item.id, item.kind);
    out.print_text(&out.paint(Style::Green, &hang_text("", &head)))?;
    if done.pinned {
        let text = format!(
            "Every session of {} begins with it. `remora pin {} --off` ends that.",
            flatten_text(&item.project),
            item.id
        );
        out.print_text(&hang_text("  ", &text))?;
        warn_of_cost(&app.list_pins(Some(&item.project))?);
    }
    Ok(Exit::GoOn)
}

/// Says so where pins leave little room for anything else at a start.
fn warn_of_cost(pinned: &PinsResponse) {
    let (cost, room) = (pinned.tokens, pinned.start_tokens);
    if cost > room / 2 {
        output::print_note(&format!(
            "pinned items are about {cost} tokens, and a session begins with {room} at most \
             (recall.start_tokens): `remora context` shows what fits"
        ));
    }
}

fn print_pins(pinned: &PinsResponse, as_json: bool, out: &mut Output) -> Result<Exit, CliError> {
    if as_json {
        out.print_json(pinned)?;
        return Ok(Exit::GoOn);
    }
    if pinned.pins.is_empty() {
        out.print_text("nothing is pinned in this project\n")?;
        return Ok(Exit::GoOn);
    }
    for item in &pinned.pins {
        let lead = format!("#{} {} · ", item.id, item.kind);
        out.print_text(&hang_text(&lead, &flatten_text(&item.title)))?;
    }
    let number = format_count(pinned.pins.len() as u64, "item", "items");
    let sum = format!("{number}, about {} tokens\n", pinned.tokens);
    out.print_text(&out.paint(Style::Dim, &sum))?;
    Ok(Exit::GoOn)
}
