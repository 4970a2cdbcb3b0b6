//! Both HTTP formats: what is sent, what is read, and every way to fail.

use std::time::{Duration, Instant};

use remora_core::model::{
    Model, ModelChoice, ModelErrorKind, ModelMessage, ModelReply, ModelRequest, ModelTool,
    ModelToolCall, ModelToolResult, ModelUsage, ReplyEnd,
};
use remora_model::{ApiFormat, HttpConfig, HttpModel, ModelNames, Provider, RetryPolicy, Secret};
use serde_json::{Value, json};

use crate::server::{Reply, Server};

const FORMATS: [ApiFormat; 2] = [ApiFormat::Anthropic, ApiFormat::OpenAi];
const KEY: &str = "k-never-shown";
/// Far beyond what any of these tests takes.
const LONG: Duration = Duration::from_mins(1);

fn provider(format: ApiFormat, server: &Server) -> Provider {
    let model = HttpModel::new(HttpConfig {
        format,
        address: Some(server.address()),
        key: Secret::new(KEY),
        proxy: None,
        names: ModelNames {
            configured: Some("small".into()),
            replaced: vec![("theirs".into(), "ours".into())],
        },
        retry: RetryPolicy {
            first_delay: Duration::from_millis(1),
            ..RetryPolicy::default()
        },
    });
    Provider::Http(model.unwrap())
}

fn question() -> ModelRequest {
    ModelRequest {
        system: "Answer.".into(),
        messages: vec![ModelMessage::User("Is it?".into())],
        tools: Vec::new(),
        output_schema: None,
        model: ModelChoice::Configured,
        max_tokens: 100,
    }
}

/// An answer of this text in a format.
fn said(format: ApiFormat, text: &str) -> Value {
    match format {
        ApiFormat::Anthropic => json!({
            "model": "small-1",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 2},
        }),
        ApiFormat::OpenAi => json!({
            "model": "small-1",
            "choices": [{
                "message": {"role": "assistant", "content": format!("<think>hm</think>{text}")},
                "finish_reason": "stop",
            }],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        }),
    }
}

#[test]
fn an_answer_is_read_in_both_formats() {
    for format in FORMATS {
        let server = Server::start(vec![Reply::ok(&said(format, "yes"))]);
        let reply = provider(format, &server).complete(&question(), Instant::now() + LONG);
        let expected = ModelReply {
            text: "yes".into(),
            calls: Vec::new(),
            end: ReplyEnd::Complete,
            model: "small-1".into(),
            usage: ModelUsage {
                input_tokens: 7,
                output_tokens: 2,
            },
        };
        assert_eq!(reply, Ok(expected), "{format:?}");
    }
}

#[test]
fn what_is_sent_is_what_the_format_says() {
    let mut request = question();
    request.output_schema = Some(json!({"type": "object"}));
    request.model = ModelChoice::Named("big".into());
    let asked = FORMATS.map(|format| {
        let server = Server::start(vec![Reply::ok(&said(format, "yes"))]);
        provider(format, &server)
            .complete(&request, Instant::now() + LONG)
            .unwrap();
        server.asked().remove(0)
    });
    let [anthropic, openai] = &asked;
    assert_eq!(anthropic.path(), "/v1/messages");
    assert_eq!(anthropic.header("x-api-key"), Some(KEY));
    assert_eq!(anthropic.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(
        anthropic.body,
        json!({
            "model": "big",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "Is it?"}],
            "system": "Answer.",
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        })
    );
    assert_eq!(openai.path(), "/v1/chat/completions");
    assert_eq!(
        openai.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(
        openai.body,
        json!({
            "model": "big",
            "messages": [
                {"role": "system", "content": "Answer."},
                {"role": "user", "content": "Is it?"},
            ],
            "stream": false,
            "max_tokens": 100,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": {"type": "object"}},
            },
        })
    );
}

#[test]
fn calls_of_tools_go_both_ways() {
    let call = ModelToolCall {
        id: "c1".into(),
        name: "look".into(),
        input: json!({"at": "x"}),
    };
    let request = ModelRequest {
        messages: vec![
            ModelMessage::User("Is it?".into()),
            ModelMessage::Assistant {
                text: String::new(),
                calls: vec![call.clone()],
            },
            ModelMessage::ToolResults(vec![ModelToolResult {
                call_id: "c1".into(),
                text: "gone".into(),
                failed: true,
            }]),
        ],
        tools: vec![ModelTool {
            name: "look".into(),
            description: "Looks.".into(),
            input_schema: json!({"type": "object"}),
        }],
        ..question()
    };
    let asked = FORMATS.map(|format| {
        let body = match format {
            ApiFormat::Anthropic => json!({
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "x"}},
                ],
                "stop_reason": "tool_use",
            }),
            ApiFormat::OpenAi => json!({"choices": [{"message": {"content": null, "tool_calls": [
                {"id": "c1", "function": {"name": "look", "arguments": "{\"at\":\"x\"}"}},
            ]}, "finish_reason": "stop"}]}),
        };
        let server = Server::start(vec![Reply::ok(&body)]);
        let reply = provider(format, &server)
            .complete(&request, Instant::now() + LONG)
            .unwrap();
        assert_eq!(reply.calls, std::slice::from_ref(&call), "{format:?}");
        assert_eq!(reply.end, ReplyEnd::ToolCalls);
        server.asked().remove(0).body
    });
    assert_eq!(
        asked[0]["messages"],
        json!([
            {"role": "user", "content": "Is it?"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "x"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "gone", "is_error": true},
            ]},
        ])
    );
    assert_eq!(asked[0]["tools"][0]["name"], "look");
    assert_eq!(
        asked[1]["messages"].as_array().unwrap()[2..],
        [
            json!({"role": "assistant", "content": "", "tool_calls": [{
                "id": "c1", "type": "function",
                "function": {"name": "look", "arguments": "{\"at\":\"x\"}"},
            }]}),
            json!({"role": "tool", "tool_call_id": "c1", "content": "Error: gone"}),
        ]
    );
    assert_eq!(asked[1]["tools"][0]["function"]["name"], "look");
}

#[test]
fn arguments_that_do_not_parse_are_handed_on_as_text() {
    let body = json!({"choices": [{"message": {"tool_calls": [
        {"id": "c1", "function": {"name": "look", "arguments": "{\"at\""}},
    ]}}]});
    let server = Server::start(vec![Reply::ok(&body)]);
    let reply = provider(ApiFormat::OpenAi, &server)
        .complete(&question(), Instant::now() + LONG)
        .unwrap();
    assert_eq!(reply.calls[0].input, json!("{\"at\""));
}

#[test]
fn names_of_others_are_replaced_as_the_user_says() {
    let choices = [
        (ModelChoice::Configured, "small"),
        (ModelChoice::Named("theirs".into()), "ours"),
        (ModelChoice::Alias("theirs".into()), "ours"),
        (ModelChoice::Named("haiku".into()), "haiku"),
        (ModelChoice::Alias("haiku".into()), "claude-haiku-5-5"),
        (ModelChoice::Alias("unknown".into()), "unknown"),
        (ModelChoice::Named(String::new()), ""),
    ];
    for (choice, expected) in choices {
        let server = Server::start(vec![Reply::ok(&said(ApiFormat::Anthropic, "yes"))]);
        let request = ModelRequest {
            model: choice.clone(),
            ..question()
        };
        provider(ApiFormat::Anthropic, &server)
            .complete(&request, Instant::now() + LONG)
            .unwrap();
        assert_eq!(server.asked()[0].body["model"], expected, "{choice:?}");
    }
}

/// The kind of the failure and how many requests it took.
fn fails(format: ApiFormat, replies: Vec<Reply>, limit: Duration) -> (ModelErrorKind, usize) {
    let server = Server::start(replies);
    let provider = provider(format, &server);
    let error = provider
        .complete(&question(), Instant::now() + limit)
        .unwrap_err();
    for text in [
        error.to_string(),
        format!("{error:?}"),
        format!("{provider:?}"),
    ] {
        assert!(!text.contains(KEY), "{text}");
        assert!(text.len() < 1000, "{text}");
    }
    (error.kind, server.asked().len())
}

#[test]
fn every_failure_has_its_kind_and_its_attempts() {
    use ModelErrorKind as K;
    let huge = "x".repeat(5 << 20);
    for format in FORMATS {
        let cut = said(format, "yes").to_string();
        let rows: Vec<(&str, Vec<Reply>, K, usize)> = vec![
            ("401", vec![Reply::status(401, &[])], K::Auth, 1),
            ("403", vec![Reply::status(403, &[])], K::Auth, 1),
            ("400", vec![Reply::status(400, &[])], K::BadRequest, 1),
            ("404", vec![Reply::status(404, &[])], K::BadRequest, 1),
            (
                "redirect",
                vec![Reply::status(302, &[("location", "/x")])],
                K::BadRequest,
                1,
            ),
            ("500", vec![Reply::status(500, &[])], K::Server, 3),
            ("529", vec![Reply::status(529, &[])], K::RateLimited, 3),
            (
                "not to be repeated",
                vec![Reply::status(500, &[("x-should-retry", "false")])],
                K::Server,
                1,
            ),
            (
                "asked to wait too long",
                vec![Reply::status(429, &[("retry-after", "3600")])],
                K::RateLimited,
                1,
            ),
            (
                "asked to wait shortly",
                vec![Reply::status(429, &[("retry-after", "0")])],
                K::RateLimited,
                3,
            ),
            (
                "truncated",
                vec![Reply::Truncated(cut[..20].to_owned())],
                K::Connection,
                3,
            ),
            ("not JSON", vec![Reply::text("<html>")], K::Malformed, 1),
            ("cut JSON", vec![Reply::text(&cut[..20])], K::Malformed, 1),
            ("empty", vec![Reply::text("")], K::Malformed, 1),
            (
                "other JSON",
                vec![Reply::ok(&json!({"x": 1}))],
                K::Malformed,
                1,
            ),
            ("a list", vec![Reply::ok(&json!([]))], K::Malformed, 1),
            ("huge", vec![Reply::text(&huge)], K::TooLarge, 1),
        ];
        for (name, replies, kind, attempts) in rows {
            assert_eq!(
                fails(format, replies, LONG),
                (kind, attempts),
                "{format:?} {name}"
            );
        }
    }
}

#[test]
fn a_server_that_hangs_costs_the_deadline_and_no_more() {
    let limit = Duration::from_millis(300);
    for format in FORMATS {
        for reply in [Reply::Silent, Reply::Stuck("{\"content\": ".into())] {
            let found = fails(format, vec![reply.clone()], limit);
            assert_eq!(found, (ModelErrorKind::Timeout, 1), "{format:?} {reply:?}");
        }
    }
}

#[test]
fn a_deadline_that_has_passed_sends_nothing() {
    let found = fails(ApiFormat::Anthropic, vec![Reply::Silent], Duration::ZERO);
    assert_eq!(found, (ModelErrorKind::Timeout, 0));
}

#[test]
fn a_port_that_nobody_listens_on_is_no_connection() {
    let server = Server::start(vec![Reply::Silent]);
    let provider = provider(ApiFormat::OpenAi, &server);
    drop(server);
    let error = provider
        .complete(&question(), Instant::now() + LONG)
        .unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Connection);
}

#[test]
fn failures_that_pass_end_with_an_answer() {
    for format in FORMATS {
        let good = said(format, "yes");
        let rows = [
            (vec![Reply::status(500, &[]), Reply::ok(&good)], 2),
            (
                vec![
                    Reply::status(429, &[("retry-after", "0")]),
                    Reply::ok(&good),
                ],
                2,
            ),
            (vec![Reply::Truncated("{".into()), Reply::ok(&good)], 2),
            (vec![Reply::Dribbled(good.to_string())], 1),
        ];
        for (replies, attempts) in rows {
            let server = Server::start(replies);
            let reply = provider(format, &server)
                .complete(&question(), Instant::now() + LONG)
                .unwrap();
            assert_eq!(reply.text, "yes");
            assert_eq!(server.asked().len(), attempts, "{format:?}");
        }
    }
}

#[test]
fn an_endpoint_that_refuses_a_schema_is_asked_once_more_without() {
    for format in FORMATS {
        for second in [Reply::ok(&said(format, "yes")), Reply::status(400, &[])] {
            let is_good = matches!(second, Reply::Full(200, ..));
            let server = Server::start(vec![Reply::status(400, &[]), second]);
            let request = ModelRequest {
                output_schema: Some(json!({"type": "object"})),
                ..question()
            };
            let reply = provider(format, &server).complete(&request, Instant::now() + LONG);
            assert_eq!(reply.is_ok(), is_good);
            let keys = ["output_config", "response_format"];
            let with_schema: Vec<bool> = server
                .asked()
                .iter()
                .map(|asked| keys.iter().any(|key| asked.body.get(key).is_some()))
                .collect();
            assert_eq!(with_schema, [true, false], "{format:?}");
        }
    }
}

#[test]
fn a_key_is_not_sent_where_others_can_read_it() {
    let config = |address: &str| HttpConfig {
        format: ApiFormat::OpenAi,
        address: Some(address.into()),
        key: Secret::new(KEY),
        proxy: None,
        names: ModelNames::default(),
        retry: RetryPolicy::default(),
    };
    let error = HttpModel::new(config("http://models.example/v1")).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NotConfigured);
    assert!(HttpModel::new(config("https://models.example/v1")).is_ok());
    let no_name = HttpModel::new(config("http://127.0.0.1:9/v1")).unwrap();
    let error = Provider::Http(no_name).complete(&question(), Instant::now() + LONG);
    assert_eq!(error.unwrap_err().kind, ModelErrorKind::NotConfigured);
}
