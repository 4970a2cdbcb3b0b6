//! In the terminal program a person sees one line of ours, gets an answer, clears and leaves.

use anyhow::{Context as _, Result};

use super::super::Case;
use super::super::terminal::Terminal;
use super::told::told;
use super::{MOLES, knows, text, two_sessions_before};
use crate::client::api::Model;

const GREETING: &str = "Remora remembers:";
const ANSWER: &str = "The cormorant answers.";

pub(in super::super) fn session(case: &mut Case) -> Result<()> {
    two_sessions_before(case)?;
    case.sessions += 1;
    let model = Model::start(&[text(ANSWER), text("And again.")])?;
    let terminal = Terminal::start(&case.house, "project", &model)?;
    terminal.wait("our greeting", |screen| screen.contains(GREETING))?;
    terminal.say(MOLES.question)?;
    let screen = terminal.wait("the answer", |screen| screen.contains(ANSWER))?;
    let greetings = screen.matches(GREETING).count();
    terminal.say("/clear")?;
    terminal.wait("a clear screen", |screen| {
        !screen.contains(ANSWER) && screen.contains(GREETING)
    })?;
    terminal.say("/exit")?;
    terminal.ended()?;
    drop(terminal);
    case.equal("greetings on the screen", &greetings, &1);
    case.check(!screen.contains("remora-context"), || {
        format!("the person is shown what is for the model:\n{screen}")
    });
    let requests = model.requests();
    let texts = told(requests.first().context("no request")?);
    let asked = texts
        .iter()
        .any(|told| told.event() == "UserPromptSubmit" && told.text.contains(MOLES.answer));
    case.check(knows(&texts) && asked, || {
        format!("the model is told {texts:?}")
    });
    Ok(())
}
