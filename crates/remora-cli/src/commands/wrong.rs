//! `remora wrong`: an item that is not true stays as a tombstone.

use remora_app::corrections::RejectRequest;

use crate::args::WrongArgs;
use crate::commands::data::open_app;
use crate::commands::show::lines::{flatten_text, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(super) fn run(args: &WrongArgs, out: &mut Output) -> Result<Exit, CliError> {
    let app = open_app()?;
    let done = if args.undo {
        app.restore_item(&args.item)?
    } else {
        app.reject_item(&RejectRequest {
            item: args.item.clone(),
            because: args.because.clone(),
        })?
    };
    if args.json {
        out.print_json(&done)?;
        return Ok(Exit::GoOn);
    }
    let item = &done.item;
    let verb = match done.wrong {
        Some(_) => "marked wrong",
        None => "no longer wrong",
    };
    let title = flatten_text(&item.title);
    let head = format!("{verb}: #{} {} · {title}", item.id, item.kind);
    out.print_text(&out.paint(Style::Green, &hang_text("", &head)))?;
    if done.wrong.is_some() {
        let text = format!(
            "It is not injected or learned again. `remora wrong {} --undo` takes this back.",
            item.id
        );
        out.print_text(&hang_text("  ", &text))?;
    }
    Ok(Exit::GoOn)
}
