//! What was given, written out so that somebody can read it and judge.

use std::fmt::Write as _;

/// Characters of a prompt, an error and an answer that are shown.
const MAX_EXCERPT_CHARS: usize = 1_200;

/// One injection.
#[derive(Debug)]
pub(super) struct InjectionSample {
    is_failure: bool,
    head: String,
    asked: String,
    text: String,
    then: String,
}

impl InjectionSample {
    pub(super) fn of_prompt(session: &str, prompt: &str, text: &str, is_first: bool) -> Self {
        let which = if is_first { "first" } else { "later" };
        Self {
            is_failure: false,
            head: format!("session {session}, {which} prompt"),
            asked: start_of(prompt),
            text: text.to_owned(),
            then: String::new(),
        }
    }

    pub(super) fn of_failure(session: &str, command: &str, error: &str, text: &str) -> Self {
        Self {
            is_failure: true,
            head: format!("session {session}, failure"),
            asked: format!("$ {}\n{}", start_of(command), start_of(error)),
            text: text.to_owned(),
            then: "the session ended".to_owned(),
        }
    }
}

/// All injections at prompts and after failures.
#[derive(Debug, Default)]
pub(super) struct InjectionSamples(Vec<InjectionSample>);

impl InjectionSamples {
    /// Keeps one; its place.
    pub(super) fn add_sample(&mut self, sample: InjectionSample) -> usize {
        self.0.push(sample);
        self.0.len() - 1
    }

    /// What the agent said at the end of that turn.
    pub(super) fn record_answer(&mut self, at: usize, message: &str) {
        if let Some(sample) = self.0.get_mut(at).filter(|sample| sample.then.is_empty()) {
            sample.then = start_of(message);
        }
    }

    /// Whether the command passed.
    pub(super) fn record_outcome(&mut self, at: usize, passed: bool, steps: usize) {
        if let Some(sample) = self.0.get_mut(at) {
            let what = if passed { "passed" } else { "did not pass" };
            sample.then = format!("the command {what} within {steps} calls");
        }
    }

    /// So many of each kind, from all over the sessions.
    pub(super) fn render_samples(&self, count: usize) -> String {
        let mut text = String::new();
        for is_failure in [false, true] {
            let all: Vec<&InjectionSample> = self
                .0
                .iter()
                .filter(|one| one.is_failure == is_failure)
                .collect();
            let count = count.min(all.len());
            for n in 0..count {
                let sample = all[n * all.len() / count];
                let InjectionSample {
                    head,
                    asked,
                    text: given,
                    then,
                    ..
                } = sample;
                // Writing to a string cannot fail.
                let _ = write!(
                    text,
                    "=== {} of {count}: {head}\n--- asked\n{asked}\n--- given\n{given}\n--- then\n{then}\n\n",
                    n + 1
                );
            }
        }
        text
    }
}

fn start_of(text: &str) -> String {
    text.trim().chars().take(MAX_EXCERPT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_taken_from_all_over() {
        let mut samples = InjectionSamples::default();
        for n in 0..10 {
            let at = samples.add_sample(InjectionSample::of_prompt(
                "s",
                &format!("prompt {n}."),
                "given",
                n == 0,
            ));
            samples.record_answer(at, &format!("answer {n}."));
        }
        samples.add_sample(InjectionSample::of_failure("s", "make", "no rule", "a fix"));
        let text = samples.render_samples(2);
        assert!(
            text.contains("prompt 0.") && text.contains("prompt 5.") && !text.contains("prompt 1."),
            "{text}"
        );
        assert!(
            text.contains("1 of 1: session s, failure") && text.contains("answer 5."),
            "{text}"
        );
    }
}
