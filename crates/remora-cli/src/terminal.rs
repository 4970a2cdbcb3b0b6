//! The user's terminal, taken over for a screen and handed back whatever
//! happens: an error, a signal, a panic.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ratatui::Frame;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEventKind, KeyModifiers,
};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use remora_hooks_ui::Key;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How often a changed size is looked for while no key comes.
const SIZE_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Whether the terminal is ours at the moment.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// What users do at a terminal.
#[derive(Debug)]
pub(crate) enum Input {
    /// A key, or a text that was pasted.
    Key(Key),
    /// The size changed, or the terminal wants to be drawn again.
    Redraw,
    /// The terminal is gone.
    Gone,
}

/// The terminal while it is ours.
pub(crate) struct FullScreen {
    terminal: Terminal<CrosstermBackend<io::Stdout>>,
    /// What was read and not asked for yet.
    waiting: VecDeque<Input>,
}

/// Whether there is a terminal to show something on and to read keys from.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl FullScreen {
    /// Takes the terminal over.
    pub(crate) fn open() -> io::Result<Self> {
        hand_back_on_panic();
        hand_back_on_signals()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        // From here on dropping it hands the terminal back.
        let screen = Self {
            terminal: Terminal::new(CrosstermBackend::new(io::stdout()))?,
            waiting: VecDeque::new(),
        };
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        Ok(screen)
    }

    pub(crate) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(render).map(|_| ())
    }

    /// Waits for the user.
    pub(crate) fn read_input(&mut self) -> io::Result<Input> {
        loop {
            if let Some(input) = self.waiting.pop_front() {
                return Ok(input);
            }
            // The library reads a closed terminal for ever, so it is asked first whether it
            // is still there.
            let stdin = io::stdin();
            let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
            let wait = Timespec::try_from(SIZE_CHECK_INTERVAL).map_err(io::Error::other)?;
            match poll(&mut watched, Some(&wait)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
            if watched[0].revents().intersects(gone) {
                return Ok(Input::Gone);
            }
            // All of it: what the library has read already would not be seen above.
            while event::poll(Duration::ZERO)? {
                self.waiting.extend(read_event(event::read()?));
            }
        }
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        hand_back();
    }
}

/// Puts everything back, once. What fails here cannot be helped.
fn hand_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        let mut stdout = io::stdout();
        let _ = execute!(
            stdout,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            cursor::Show
        );
        let _ = disable_raw_mode();
        let _ = stdout.flush();
    }
}

/// The message of a panic belongs on the user's own screen, which comes back
/// before it is printed.
fn hand_back_on_panic() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        hand_back();
        before(panic);
    }));
}

fn hand_back_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            hand_back();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

fn read_event(event: Event) -> Option<Input> {
    match event {
        Event::Resize(..) | Event::FocusGained => Some(Input::Redraw),
        Event::Paste(text) => Some(Input::Key(Key::Paste(text))),
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            read_key(key.code, key.modifiers).map(Input::Key)
        }
        _ => None,
    }
}

fn read_key(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    Some(match code {
        // Some terminals send this for the key above Enter.
        KeyCode::Char('h') if modifiers == KeyModifiers::CONTROL => Key::Backspace,
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Ctrl(c.to_ascii_lowercase())
        }
        KeyCode::Char(_) if modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        _ => return None,
    })
}
