//! What reaches a prompt is bounded by what was said, in rows and in tokens.

use remora_core::tokens;
use serde_json::json;

use super::World;

/// Rows that a prompt brings at most.
const PROMPT_ROWS: usize = 3;

fn rows(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with('#')).count()
}

#[test]
fn retrieval_k_is_an_upper_bound() {
    let world = World::new();
    let alpha = world.project("alpha");
    let things = [
        "parser",
        "lexer",
        "planner",
        "scheduler",
        "allocator",
        "renderer",
        "importer",
        "exporter",
        "mailer",
        "crawler",
        "indexer",
        "tokenizer",
        "compiler",
        "linker",
        "loader",
        "debugger",
    ];
    for thing in things {
        let prompt = format!("We decided to write the kestrel {thing} in Rust.");
        world.prompt(&format!("s-{thing}"), &alpha, &prompt);
    }
    world.den.drain();
    let question =
        "what did we decide about the kestrel parser, lexer, planner, scheduler and loader?";
    let text = world.prompt("short", &alpha, question);
    assert_eq!(rows(&text), PROMPT_ROWS, "{text}");
    assert!(tokens::estimate_tokens(&text) <= 300, "{text}");
    for k in [1, 3, 7] {
        let limit = k.to_string();
        let found = world.search(&alpha, &["kestrel", "--limit", &limit]);
        assert_eq!(found.len(), k);
        let (text, _) = world.mcp(&alpha, "search", &json!({ "query": "kestrel", "limit": k }));
        assert_eq!(rows(&text), k, "{text}");
    }
    // Long ones: as many as fit, and never one cut in the middle.
    let reason =
        "the team measured it against every other language that anybody here can write, ".repeat(3);
    for thing in things {
        let prompt = format!(
            "We decided to host the marlin {thing} at home because {reason} and {thing} won."
        );
        world.prompt(&format!("l-{thing}"), &alpha, &prompt);
    }
    world.den.drain();
    for limit in [120, 300, 600] {
        world.configure(&format!(
            "search.model = \"off\"\nrecall.prompt_tokens = {limit}\n"
        ));
        let text = world.prompt(
            &format!("long-{limit}"),
            &alpha,
            "why did we decide to host marlin at home?",
        );
        assert!(tokens::estimate_tokens(&text) <= limit, "{text}");
        assert!((1..=PROMPT_ROWS).contains(&rows(&text)), "{text}");
    }
    for limit in [150, 500, 2000] {
        world.configure(&format!(
            "search.model = \"off\"\nrecall.start_tokens = {limit}\nrecall.index_rows = 4\n"
        ));
        let text = world.start(&format!("start-{limit}"), &alpha);
        assert!(tokens::estimate_tokens(&text) <= limit, "{text}");
        assert!(rows(&text) > 0, "{text}");
    }
}
