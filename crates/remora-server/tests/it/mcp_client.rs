//! The MCP client against a scripted program and a scripted endpoint.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_http::LookupExit;
use remora_server::mcp_client::{
    McpClients, ServerConfig, ServerScope, ToolCallError, ToolReply, parse_servers,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

#[path = "../../../remora-model/tests/it/server.rs"]
mod server;

use server::{Reply, Server};

/// Far beyond what any of these tests takes.
const LONG: Duration = Duration::from_mins(1);

/// A server in shell: what it is sent decides what it says.
const SCRIPT: &str = r#"echo started >> "$OUT/starts"; echo $$ > "$OUT/pid"
tail -f /dev/null & echo $! > "$OUT/other"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case "$line" in
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"lab","version":"1"}}' ;;
    *'"two"'*) say '"result":{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"b"}]}' ;;
    *'"echo"'*) text=$(printf %s "$line" | sed 's/.*"text":"\([^"]*\)".*/\1/'); say "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$text $KEY\"}]}" ;;
    *'"fail"'*) say '"result":{"content":[{"type":"text","text":"no"}],"isError":true}' ;;
    *'"refuse"'*) say '"error":{"code":-32602,"message":"Unknown tool"}' ;;
    *'"die"'*) exit 1 ;;
    *'"flood"'*) head -c 20000000 /dev/zero | tr '\0' x ;;
    *'"hang"'*) : ;;
  esac
done"#;

struct Bench {
    folder: TempDir,
    clients: McpClients,
}

impl Bench {
    fn new(servers: &Value) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::write(folder.path().join("server.sh"), SCRIPT).unwrap();
        let configs = parse_in(folder.path(), servers);
        Self {
            clients: McpClients::new(configs, |_, _, _| LookupExit::TimedOut),
            folder,
        }
    }

    fn parse(&self, servers: &Value) -> Vec<ServerConfig> {
        parse_in(self.folder.path(), servers)
    }

    fn scripted() -> Self {
        Self::new(&json!({
            "lab": {"command": "/bin/sh", "args": ["${ROOT}/server.sh"], "env": {"KEY": "k"}},
            "gone": {"command": "/no/such/program"},
            "false": {"command": "/bin/false"},
            "silent": {"command": "/bin/sh", "args": ["-c", "exec tail -f /dev/null"]},
        }))
    }

    fn call(&self, server: &str, tool: &str, limit: Duration) -> Result<ToolReply, ToolCallError> {
        let mut input = Map::new();
        input.insert("text".into(), "hello".into());
        self.clients
            .call_tool(server, tool, &input, Instant::now() + limit)
    }

    fn fails(&self, server: &str, tool: &str) -> String {
        match self.call(server, tool, LONG) {
            Err(ToolCallError::Failed(why)) => why,
            other => panic!("{server} {tool}: {other:?}"),
        }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

fn parse_in(folder: &Path, servers: &Value) -> Vec<ServerConfig> {
    let environment = [
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("OUT".into(), folder.as_os_str().to_owned()),
    ];
    let scope = ServerScope {
        environment: &environment,
        variables: &[("ROOT", folder)],
        cwd: folder,
        prefix: "",
    };
    let mut warnings = Vec::new();
    let configs = parse_servers(servers.as_object().unwrap(), &scope, &mut warnings);
    assert_eq!(warnings, Vec::<String>::new());
    configs
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "compared with what a call returns"
)]
fn texts(texts: &[&str]) -> Result<ToolReply, ToolCallError> {
    Ok(ToolReply {
        texts: texts.iter().map(|t| (*t).to_owned()).collect(),
        failed: false,
    })
}

/// A process that was killed may be a zombie of whoever reaps orphans here.
fn wait_until_gone(pid: &str) {
    let deadline = Instant::now() + LONG;
    let stat = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    while let Ok(text) = fs::read_to_string(&stat)
        && !text.contains(") Z ")
    {
        assert!(Instant::now() < deadline, "still there: {text}");
        std::thread::yield_now();
    }
}

#[test]
fn tools_of_a_program_answer_over_one_connection() {
    let bench = Bench::scripted();
    assert_eq!(bench.call("lab", "two", LONG), texts(&["a", "b"]));
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello k"]));
    let failed = bench.call("lab", "fail", LONG).unwrap();
    assert_eq!((failed.texts, failed.failed), (vec!["no".to_owned()], true));
    assert!(bench.fails("lab", "refuse").contains("Unknown tool"));
    assert_eq!(bench.read("starts"), "started\n");
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let bench = Bench::scripted();
    assert!(bench.fails("other", "x").contains("not configured"));
    assert!(bench.fails("gone", "x").contains("not connected"));
    assert!(bench.fails("false", "x").contains("not connected"));
    assert!(bench.fails("false", "x").contains("not connected"));
}

#[test]
fn a_server_that_ended_is_started_again_for_a_later_call() {
    let bench = Bench::scripted();
    // Not the call that it ended at: the server may have done what it was asked for.
    assert!(bench.fails("lab", "die").len() < 500);
    assert_eq!(bench.read("starts"), "started\n");
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello k"]));
    assert_eq!(bench.call("lab", "two", LONG), texts(&["a", "b"]));
    assert_eq!(bench.read("starts"), "started\nstarted\n");
}

#[test]
fn a_server_that_missed_its_first_deadline_is_started_again() {
    let bench = Bench::new(&json!({"late": {"command": "/bin/sh", "args": ["${ROOT}/late.sh"]}}));
    let script = bench.folder.path().join("late.sh");
    fs::write(&script, "exec tail -f /dev/null").unwrap();
    let short = Duration::from_millis(300);
    assert_eq!(
        bench.call("late", "two", short),
        Err(ToolCallError::TimedOut)
    );
    fs::write(&script, SCRIPT).unwrap();
    assert_eq!(bench.call("late", "two", LONG), texts(&["a", "b"]));
    assert_eq!(bench.read("starts"), "started\n");
}

#[test]
fn servers_are_replaced_and_those_that_stay_keep_their_connection() {
    let lab = |key: &str| json!({"command": "/bin/sh", "args": ["${ROOT}/server.sh"], "env": {"KEY": key}});
    let bench = Bench::new(&json!({"lab": lab("k"), "gone": lab("g")}));
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello k"]));
    assert_eq!(bench.call("gone", "echo", LONG), texts(&["hello g"]));
    let gone = bench.read("pid");
    (bench.clients).replace_servers(bench.parse(&json!({"lab": lab("k"), "new": lab("n")})));
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello k"]));
    assert_eq!(bench.read("starts").lines().count(), 2);
    assert!(bench.fails("gone", "echo").contains("not configured"));
    wait_until_gone(&gone);
    assert_eq!(bench.call("new", "echo", LONG), texts(&["hello n"]));
    bench
        .clients
        .replace_servers(bench.parse(&json!({"lab": lab("other")})));
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello other"]));
}

#[test]
fn a_server_that_hangs_costs_the_deadline_and_no_more() {
    let bench = Bench::scripted();
    let short = Duration::from_millis(300);
    assert_eq!(
        bench.call("silent", "x", short),
        Err(ToolCallError::TimedOut)
    );
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello k"]));
    assert_eq!(
        bench.call("lab", "hang", short),
        Err(ToolCallError::TimedOut)
    );
    // It goes on with others.
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello k"]));
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let bench = Bench::scripted();
    assert!(bench.fails("lab", "flood").len() < 500);
}

#[test]
fn nothing_of_a_server_is_left_behind() {
    let bench = Bench::scripted();
    assert_eq!(bench.call("lab", "echo", LONG), texts(&["hello k"]));
    let pids = [bench.read("pid"), bench.read("other")];
    drop(bench.clients);
    for pid in pids {
        wait_until_gone(&pid);
    }
}

#[test]
fn several_callers_share_a_server() {
    let bench = Bench::scripted();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(bench.call("lab", "two", LONG), texts(&["a", "b"])));
        }
    });
    assert_eq!(bench.read("starts"), "started\n");
}

fn initialized() -> Reply {
    Reply::Full(
        200,
        vec![
            ("content-type", "application/json".into()),
            ("mcp-session-id", "s-1".into()),
        ],
        json!({"jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "lab", "version": "1"},
        }})
        .to_string(),
    )
}

fn accepted() -> Reply {
    Reply::Full(202, Vec::new(), String::new())
}

fn over_http(server: &Server) -> Bench {
    Bench::new(&json!({"web": {
        "type": "http",
        "url": format!("{}/mcp", server.address()),
        "headers": {"authorization": "Bearer k"},
    }}))
}

#[test]
fn tools_of_an_endpoint_answer_as_json_and_as_a_stream() {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "content": [{"type": "text", "text": "a\nb"}],
    }});
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {
        "level": "info", "data": "x",
    }});
    for (kind, body) in [
        (
            "application/json",
            serde_json::to_string_pretty(&answer).unwrap(),
        ),
        (
            "text/event-stream",
            format!(": hi\n\nevent: message\ndata: {notice}\n\nid: 1\ndata: {answer}\n\n"),
        ),
    ] {
        let reply = Reply::Full(200, vec![("content-type", kind.into())], body);
        let server = Server::start(vec![initialized(), accepted(), reply]);
        let bench = over_http(&server);
        assert_eq!(bench.call("web", "echo", LONG), texts(&["a\nb"]), "{kind}");
        let asked = server.asked();
        assert_eq!(asked[2].path(), "/mcp");
        assert_eq!(asked[2].header("authorization"), Some("Bearer k"));
        assert_eq!(asked[2].header("mcp-session-id"), Some("s-1"));
        assert_eq!(asked[2].header("mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(asked[2].body["params"]["arguments"]["text"], "hello");
    }
}

#[test]
fn an_endpoint_that_forgot_its_session_is_asked_for_another() {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "content": [{"type": "text", "text": "a"}],
    }});
    let server = Server::start(vec![
        initialized(),
        accepted(),
        Reply::status(404, &[]),
        initialized(),
        accepted(),
        Reply::ok(&answer),
    ]);
    let bench = over_http(&server);
    assert!(bench.fails("web", "echo").contains("404"));
    assert_eq!(bench.call("web", "echo", LONG), texts(&["a"]));
    assert_eq!(server.asked().len(), 6);
}

#[test]
fn an_endpoint_may_be_slow_and_say_little_of_itself() {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "content": [{"type": "text", "text": "a"}],
    }});
    for reply in [Reply::ok(&answer), Reply::Dribbled(answer.to_string())] {
        let server = Server::start(vec![initialized(), accepted(), reply]);
        assert_eq!(over_http(&server).call("web", "echo", LONG), texts(&["a"]));
    }
}

#[test]
fn an_endpoint_that_fails_is_an_error() {
    for reply in [
        Reply::status(500, &[]),
        Reply::status(401, &[]),
        Reply::status(302, &[("location", "/x")]),
        Reply::text("<html>"),
        Reply::Truncated("{".into()),
        Reply::Full(
            200,
            vec![("content-type", "text/event-stream".into())],
            "data: {\n\n".into(),
        ),
    ] {
        let server = Server::start(vec![initialized(), accepted(), reply.clone()]);
        let why = over_http(&server).fails("web", "echo");
        assert!(
            why.len() < 500 && !why.contains("Bearer"),
            "{reply:?}: {why}"
        );
        let server = Server::start(vec![reply.clone()]);
        let why = over_http(&server).fails("web", "echo");
        assert!(why.contains("not connected"), "{reply:?}: {why}");
    }
    let short = Duration::from_millis(500);
    for replies in [
        vec![Reply::Silent],
        vec![initialized(), accepted(), Reply::Stuck("{".into())],
    ] {
        let server = Server::start(replies);
        let found = over_http(&server).call("web", "echo", short);
        // Whoever notices the deadline first.
        assert!(found.is_err(), "{found:?}");
    }
}
