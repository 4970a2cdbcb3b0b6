//! A prompt's embedding comes from the worker, in time or not at all: what a
//! hook asks for, what it takes, and that nothing makes it wait.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use remora_client::{Connection, request_embedding};
use remora_embed::{EMBEDDING_DIMS, Embedding, EncoderSource, LazyEncoder, MODEL_ID};
use serde_json::{Value, json};

use super::den::{Den, until};
use super::recalled::Worked;

const LONG: Duration = Duration::from_secs(20);
const PROMPT: &str = "why is the retry limit 3? what was the reason?";

/// The answer to the prompt in a session, with this much time for the embedding.
fn prompted(worked: &Worked, session: &str, budget: Option<&str>) -> String {
    prompted_with(worked, session, PROMPT, budget)
}

fn prompted_with(worked: &Worked, session: &str, prompt: &str, budget: Option<&str>) -> String {
    let event = worked.event(session, "UserPromptSubmit", json!({"prompt": prompt}));
    let hook = worked.den.remora(&["hook", "claude-code"]);
    let hook = match budget {
        Some(budget) => hook.environment("REMORA_EMBEDDING_BUDGET_MS", budget),
        // What is no number does not count.
        None => hook.environment("REMORA_EMBEDDING_BUDGET_MS", "as usual"),
    };
    let done = hook.stdin(event.to_string()).go();
    let answer: Value = serde_json::from_str(&done.raw).unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
    text.unwrap_or_default().to_owned()
}

/// In the worker's place: answers a request for an embedding with these bytes,
/// hangs up on everything else, and gives the request back. The listener comes
/// with it: as long as it is there, no hook starts a worker of its own.
fn stand_in(listener: UnixListener, reply: Vec<u8>) -> JoinHandle<(Value, UnixListener)> {
    thread::spawn(move || {
        loop {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let request: Value = serde_json::from_str(&line).unwrap_or_default();
            if request["ask"] == "embed" {
                // Whoever asked may have had enough.
                let _ = stream.write_all(&reply);
                return (request, listener);
            }
        }
    })
}

#[test]
fn a_hook_asks_for_the_embedding_and_takes_no_harm_from_any_answer() {
    let worked = Worked::new();
    worked.den.stop();
    let embedding = |model: &str, bytes: Vec<u8>| {
        let reply = json!({"embedding": {"model": model, "bytes": bytes}});
        format!("{reply}\n").into_bytes()
    };
    let replies = [
        embedding(
            MODEL_ID,
            Embedding::from_vector(&[1.0; EMBEDDING_DIMS]).to_bytes(),
        ),
        embedding(MODEL_ID, vec![255; EMBEDDING_DIMS + 4]),
        embedding("another/1", vec![0; 20]),
        b"{\"refused\":\"loading\"}\n".to_vec(),
        b"\xff\xff{{{\n".to_vec(),
        // An older worker does not know the request and hangs up.
        Vec::new(),
    ];
    for (at, reply) in replies.into_iter().enumerate() {
        let fake = stand_in(worked.den.deaf(), reply);
        let answer = prompted(&worked, &format!("s{at}"), Some("20000"));
        assert!(answer.contains("the server bans us"), "{at}: {answer}");
        let (asked, listener) = fake.join().unwrap();
        assert_eq!(asked, json!({"ask": "embed", "text": PROMPT}));
        std::fs::remove_file(worked.den.paths.socket_file()).unwrap();
        drop(listener);
    }
}

#[test]
fn a_reply_is_not_searched_for_and_asks_for_no_embedding() {
    let worked = Worked::new();
    worked.den.stop();
    let refused = b"{\"refused\":\"loading\"}\n".to_vec();
    let fake = stand_in(worked.den.deaf(), refused.clone());
    prompted(&worked, "s", Some("20000"));
    let (_, listener) = fake.join().unwrap();
    let fake = stand_in(listener, refused);
    prompted_with(&worked, "s", "can you commit it?", Some("20000"));
    let question = "why does the gateway close idle connections?";
    prompted_with(&worked, "s", question, Some("20000"));
    let (asked, _listener) = fake.join().unwrap();
    assert_eq!(asked["text"], question);
}

#[test]
fn a_hook_does_not_wait_for_a_worker_that_says_nothing() {
    let worked = Worked::new();
    worked.den.stop();
    let _silent = worked.den.deaf();
    let started = Instant::now();
    let answer = prompted(&worked, "two", None);
    assert!(answer.contains("the server bans us"), "{answer}");
    // Without an end it would wait for ever; a busy machine takes its time.
    assert!(started.elapsed() < LONG);
}

/// What the worker says to a request for an embedding.
fn raw_reply(den: &Den) -> Option<Value> {
    let Connection::Open(mut stream) = Connection::try_open(&den.paths.socket_file()) else {
        return None;
    };
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
        .write_all(b"{\"ask\":\"embed\",\"text\":\"a walrus\"}\n")
        .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

#[test]
fn the_worker_loads_its_encoder_and_answers_as_it_would_itself() {
    let den = Den::new();
    let start = || den.remora(&["worker", "start"]).go();
    assert_eq!(start().code, Some(0));
    // Nothing is loaded, so the first one that is taken is refused.
    let first = until("a request is taken", || {
        raw_reply(&den).filter(|reply| reply["refused"] != "busy")
    });
    assert_eq!(first, json!({"refused": "loading"}));
    let found = until("the encoder is loaded", || {
        request_embedding(&den.paths, "  a walrus\n", LONG)
    });
    let encoder = LazyEncoder::new(EncoderSource::BuiltIn);
    let own = encoder.encode(&["a walrus"], Instant::now()).unwrap();
    assert_eq!(
        (found.model.as_str(), found.bytes),
        (MODEL_ID, own[0].to_bytes())
    );
    let set = den.remora(&["config", "set", "search.model", "off"]).go();
    assert_eq!(set.code, Some(0), "{set}");
    den.stop();
    assert_eq!(start().code, Some(0));
    assert_eq!(raw_reply(&den), Some(json!({"refused": "off"})));
}

#[test]
fn a_preview_says_where_the_embedding_came_from() {
    let worked = Worked::new();
    let den = &worked.den;
    let preview = || {
        let call = den.remora(&["context", "--prompt", PROMPT]);
        let (done, told) = call.json();
        assert_eq!(done.code, Some(0), "{done}");
        (told["tier"].clone(), told["tier_why"].clone())
    };
    den.stop();
    assert_eq!(
        preview(),
        (json!("fast"), json!("no item has an embedding yet"))
    );
    let made = den.remora(&["rebuild", "--vectors", "--missing"]).go();
    assert_eq!(made.code, Some(0), "{made}");
    assert_eq!(
        preview(),
        (
            json!("full"),
            json!("embedded here, the worker gave no embedding")
        )
    );
    let start = den.remora(&["worker", "start"]).go();
    assert_eq!(start.code, Some(0), "{start}");
    until("the worker embeds", || {
        (preview().1 == "the worker embedded the prompt").then_some(())
    });
    let text = den.remora(&["context", "--prompt", PROMPT]).go().stdout;
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains(", full tier: "), "{text}");
    let set = den.remora(&["config", "set", "search.model", "off"]).go();
    assert_eq!(set.code, Some(0), "{set}");
    assert_eq!(preview(), (json!("fast"), json!("search.model is off")));
}
