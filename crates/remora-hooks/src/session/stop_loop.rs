//! How often a Stop hook may keep an agent going. Pure.

use serde::{Deserialize, Serialize};

/// How many blocks in a row continue, unless the user says otherwise.
const DEFAULT_BLOCK_CAP: u32 = 8;

/// The loop of one agent within one prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StopLoop {
    /// `stop_hook_active`: the agent goes on because of a hook, or was woken by one.
    pub(crate) active: bool,
    /// Blocks since the last tool call.
    blocks: u32,
}

/// What becomes of an agent that wanted to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopDecision {
    /// It ends.
    Ends,
    /// A hook gave it something to go on with.
    Continues,
    /// A hook would have it go on, but has done so too often in a row; it ends.
    Overridden {
        /// How many blocks in a row there were, the last one included.
        blocks: u32,
    },
}

impl StopLoop {
    /// The loop of a new prompt; one that a hook woke is active from the start.
    pub(crate) fn begin(woken: bool) -> Self {
        Self {
            active: woken,
            blocks: 0,
        }
    }

    /// Decides, and counts. `cap` is `None` for no cap.
    pub(crate) fn decide(&mut self, wants_more: bool, cap: Option<u32>) -> StopDecision {
        if !wants_more {
            return StopDecision::Ends;
        }
        self.blocks = self.blocks.saturating_add(1);
        if cap.is_some_and(|cap| self.blocks > cap) {
            return StopDecision::Overridden {
                blocks: self.blocks,
            };
        }
        self.active = true;
        StopDecision::Continues
    }

    /// A tool call between two blocks: the agent does something.
    pub(crate) fn note_tool_call(&mut self) {
        self.blocks = 0;
    }
}

/// Reads the user's cap: not a number is the default, zero and less is none.
pub(crate) fn parse_block_cap(text: Option<&str>) -> Option<u32> {
    let Some(text) = text else {
        return Some(DEFAULT_BLOCK_CAP);
    };
    match text.trim().parse::<i64>() {
        Err(_) => Some(DEFAULT_BLOCK_CAP),
        Ok(cap) if cap <= 0 => None,
        Ok(cap) => Some(u32::try_from(cap).unwrap_or(u32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_after_the_cap_is_overridden() {
        for (text, continues) in [
            (None, 8),
            (Some("3"), 3),
            (Some("x"), 8),
            (Some(""), 8),
            (Some("1"), 1),
        ] {
            let cap = parse_block_cap(text);
            let mut stops = StopLoop::default();
            for _ in 0..continues {
                assert_eq!(stops.decide(true, cap), StopDecision::Continues, "{text:?}");
            }
            let blocks = continues + 1;
            assert_eq!(
                stops.decide(true, cap),
                StopDecision::Overridden { blocks },
                "{text:?}"
            );
        }
    }

    #[test]
    fn no_cap_is_never_reached() {
        for text in ["0", "-1"] {
            let mut stops = StopLoop::default();
            let last = (0..100).map(|_| stops.decide(true, parse_block_cap(Some(text))));
            assert_eq!(last.last(), Some(StopDecision::Continues), "{text}");
        }
    }

    #[test]
    fn a_tool_call_resets_the_count_and_not_the_flag() {
        let mut stops = StopLoop::default();
        for _ in 0..8 {
            stops.decide(true, Some(8));
        }
        stops.note_tool_call();
        assert!(stops.active);
        assert_eq!(stops.decide(true, Some(8)), StopDecision::Continues);
    }
}
