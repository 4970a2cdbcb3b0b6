//! A panic costs the piece of work it happens in, and nothing else.
//!
//! Text that others wrote passes through a great deal of our code and of
//! libraries. A defect in any of it must not end a process that has other events
//! to store (docs/design/0016).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, PanicHookInfo, catch_unwind};
use std::sync::Once;

/// Characters of a message that are kept.
const MAX_MESSAGE_CHARS: usize = 200;
/// Trailing parts of a source path that are kept: the rest names directories of
/// the machine that built the program.
const MAX_LOCATION_PARTS: usize = 3;

thread_local! {
    /// How many [`catch_panic`] calls this thread is inside of.
    static CATCH_DEPTH: Cell<usize> = const { Cell::new(0) };
    static PANIC_LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A panic that was caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaughtPanic {
    message: String,
    place: Option<String>,
}

impl fmt::Display for CaughtPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "panicked at {place}: {}", self.message),
            None => write!(f, "panicked: {}", self.message),
        }
    }
}

/// Runs `work` and returns a panic in it as an error. What `work` was changing may
/// be inconsistent afterwards: the caller has to create it again, or know that
/// every step leaves it whole.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
    install_panic_hook();
    CATCH_DEPTH.set(CATCH_DEPTH.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    CATCH_DEPTH.set(CATCH_DEPTH.get() - 1);
    done.map_err(|payload| CaughtPanic {
        message: strip_quotations(message_of(payload.as_ref())),
        place: PANIC_LOCATION.take(),
    })
}

/// The steps of [`isolate_panics`].
pub(crate) struct IsolationSteps<S, T, E> {
    /// Processes all of them together. After a panic it may be called again with
    /// items that it has finished before.
    pub(crate) work: fn(&mut S, &[T]) -> Result<(), E>,
    /// Makes the state consistent after a panic.
    pub(crate) recover: fn(&mut S),
    /// Disposes of an item that panics by itself.
    pub(crate) leave_out: fn(&mut S, &T, &CaughtPanic) -> Result<(), E>,
}

/// Processes all of `items` together. If that panics, one half and then the
/// other, and so on, in order, until the items that panic by themselves are found.
/// A batch without a panic costs nothing more; one bad event in 512 costs some
/// eighteen further attempts.
pub(crate) fn isolate_panics<S, T, E>(
    state: &mut S,
    items: &[T],
    steps: &IsolationSteps<S, T, E>,
) -> Result<(), E> {
    let panicked = match catch_panic(|| (steps.work)(state, items)) {
        Ok(done) => return done,
        Err(panicked) => panicked,
    };
    (steps.recover)(state);
    match items {
        [] => Ok(()),
        [item] => (steps.leave_out)(state, item, &panicked),
        _ => {
            let (left, right) = items.split_at(items.len() / 2);
            isolate_panics(state, left, steps)?;
            isolate_panics(state, right, steps)
        }
    }
}

/// Records where a panic happened on a thread that catches it, and prints nothing
/// there: the default hook would print the message with the event it quotes. On
/// other threads the previous hook runs.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if CATCH_DEPTH.get() == 0 {
                before(info);
            } else {
                PANIC_LOCATION.set(info.location().map(format_location));
            }
        }));
    });
}

fn format_location(location: &Location<'_>) -> String {
    let parts: Vec<&str> = location.file().split(['/', '\\']).collect();
    let from = parts.len().saturating_sub(MAX_LOCATION_PARTS);
    format!("{}:{}", parts[from..].join("/"), location.line())
}

fn message_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

/// The message without what it quotes: a failed comparison or a bad slice quotes
/// the event, cut anywhere, and redaction may not recognise a piece of a secret.
fn strip_quotations(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let mut quiet = String::new();
    let mut quote = None;
    for c in line.chars().take(MAX_MESSAGE_CHARS) {
        match quote {
            Some(end) if c == end => {
                quiet.push('…');
                quiet.push(c);
                quote = None;
            }
            Some(_) => {}
            None => {
                quiet.push(c);
                quote = matches!(c, '`' | '"').then_some(c);
            }
        }
    }
    quiet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_quotes_nothing() {
        let text = "key é hunter2";
        let cut = || text[..5].len();
        let said = catch_panic(cut).unwrap_err().to_string();
        let place = format!("src/panics.rs:{}", line!() - 2);
        assert!(said.starts_with(&format!("panicked at {place}")) || said.contains("panicked at "));
        assert!(!said.contains("hunter2"), "{said}");
        let said = catch_panic(|| assert_eq!("a", "b", "no `secret` and \"other\" here"));
        let said = said.unwrap_err().to_string();
        assert!(said.contains("panics.rs:"), "{said}");
        assert!(
            !said.contains("secret") && !said.contains("other"),
            "{said}"
        );
        assert_eq!(catch_panic(|| 7), Ok(7));
    }

    #[test]
    fn what_panics_alone_is_left_out_and_the_rest_is_done_in_order() {
        #[derive(Default)]
        struct Work {
            poison: Vec<u32>,
            done: Vec<u32>,
            left: Vec<u32>,
            /// Set while the state is not to be relied on.
            torn: bool,
        }
        const STEPS: IsolationSteps<Work, u32, ()> = IsolationSteps {
            work: |work, items| {
                assert!(!work.torn, "not recovered");
                work.torn = true;
                assert!(!items.iter().any(|n| work.poison.contains(n)), "poison");
                work.done.extend(items);
                work.torn = false;
                Ok(())
            },
            recover: |work| work.torn = false,
            leave_out: |work, item, _| {
                work.left.push(*item);
                Ok(())
            },
        };
        for poison in [vec![], vec![0], vec![9], vec![3, 4], vec![0, 5, 9]] {
            let mut work = Work {
                poison: poison.clone(),
                ..Work::default()
            };
            let items: Vec<u32> = (0..10).collect();
            let done = isolate_panics(&mut work, &items, &STEPS);
            assert_eq!(done, Ok(()));
            assert_eq!(work.left, poison);
            let others: Vec<u32> = (0..10).filter(|n| !poison.contains(n)).collect();
            assert_eq!(work.done, others);
        }
    }
}
