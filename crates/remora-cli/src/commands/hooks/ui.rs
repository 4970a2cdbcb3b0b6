//! `remora hooks ui`: hooks browsed and edited in the terminal. What is shown
//! and what keys do is `remora-hooks-ui`; here it meets the terminal.

use remora_hooks_ui::{Flow, HooksUi, Theme, WorkspaceOptions};

use super::sample_session;
use crate::args::HooksUiArgs;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::settings::SessionSettings;
use crate::terminal::{FullScreen, Input, is_interactive};

pub(super) fn run(args: &HooksUiArgs, out: &Output) -> Result<Exit, CliError> {
    if !is_interactive() {
        return Err(CliError::Usage(
            "`remora hooks ui` needs a terminal; `remora hooks list` prints the hooks, \
             `remora hooks add`, `remove`, `enable` and `disable` edit them"
                .to_owned(),
        ));
    }
    let settings =
        SessionSettings::from_args(&args.place.to_session(), Environment::from_process())?;
    let search_path = settings.environment.get("PATH").cloned();
    let options = WorkspaceOptions {
        sample: sample_session(&settings.places),
        places: settings.places,
        engine: settings.options,
        search_path,
    };
    let mut ui = HooksUi::open(options, Theme::new(out.has_colours()));
    let mut screen = FullScreen::open()?;
    loop {
        screen.draw(|frame| ui.draw(frame, frame.area()))?;
        match screen.read_input()? {
            Input::Key(key) => {
                if ui.press(key) == Flow::Leave {
                    return Ok(Exit::GoOn);
                }
            }
            Input::Redraw => {}
            Input::Gone => return Ok(Exit::Failed),
        }
    }
}
