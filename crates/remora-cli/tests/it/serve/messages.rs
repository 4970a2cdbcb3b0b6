//! Every message of these tests, compared with the published schema.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::host::Host;
use crate::sandbox::Sandbox;

const SCHEMAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas");
/// Keywords that say nothing of a value.
const NOTES: [&str; 4] = ["$schema", "$defs", "title", "description"];

/// The committed schemas by file name, and the requests that wait for an answer.
pub(crate) struct Messages {
    files: BTreeMap<&'static str, Value>,
    sent: BTreeMap<u64, Value>,
}

impl Messages {
    pub(crate) fn load() -> Self {
        let files = ["rpc.json", "report.json", "explanation.json"];
        let read = |name| {
            let text = fs::read_to_string(format!("{SCHEMAS}/{name}")).unwrap();
            (name, serde_json::from_str(&text).unwrap())
        };
        Self {
            files: files.into_iter().map(read).collect(),
            sent: BTreeMap::new(),
        }
    }

    pub(crate) fn note_sent(&mut self, id: u64, request: Value) {
        self.sent.insert(id, request);
    }

    /// What was received fits, and so does a request that was understood.
    pub(crate) fn check_received(&mut self, message: &Value) {
        if let Some(method) = message["method"].as_str() {
            let kind = if method == "callback" {
                "request"
            } else {
                "notification"
            };
            self.check(message, &format!("{method}_{kind}"));
            return;
        }
        if message.get("error").is_some() {
            self.check(message, "error");
            return;
        }
        self.check(message, "answer");
        let sent = message["id"].as_u64().and_then(|id| self.sent.remove(&id));
        let Some(sent) = sent else { return };
        let method = sent["method"].as_str().unwrap();
        self.check(&sent, &format!("{method}_request"));
        self.check(&message["result"], &format!("{method}_result"));
    }

    fn check(&self, value: &Value, definition: &str) {
        let mut faults = Vec::new();
        let schema = json!({"$ref": format!("#/$defs/{definition}")});
        self.find_faults(value, &schema, "rpc.json", definition, &mut faults);
        assert!(faults.is_empty(), "{faults:#?}\n{value:#}");
    }

    /// Nothing of a schema is passed over: a keyword that is not known here fails.
    fn find_faults(
        &self,
        value: &Value,
        schema: &Value,
        file: &str,
        at: &str,
        faults: &mut Vec<String>,
    ) {
        for (keyword, wanted) in schema.as_object().unwrap() {
            let fits = match keyword.as_str() {
                note if NOTES.contains(&note) => true,
                "$ref" => {
                    let (file, schema) = self.resolve(wanted.as_str().unwrap(), file);
                    self.find_faults(value, schema, file, at, faults);
                    true
                }
                "type" => has_type(value, wanted),
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "exclusiveMinimum" => value.as_f64() > wanted.as_f64(),
                "anyOf" => wanted.as_array().unwrap().iter().any(|schema| {
                    let mut faults = Vec::new();
                    self.find_faults(value, schema, file, at, &mut faults);
                    faults.is_empty()
                }),
                "required" => {
                    let missing = |key: &&Value| value.get(key.as_str().unwrap()).is_none();
                    let keys = wanted.as_array().unwrap();
                    value.is_null() || !keys.iter().any(|key| missing(&key))
                }
                "properties" => {
                    for (key, schema) in wanted.as_object().unwrap() {
                        if let Some(value) = value.get(key) {
                            self.find_faults(value, schema, file, &format!("{at}.{key}"), faults);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = &schema["properties"];
                    let own = value.as_object().into_iter().flatten();
                    for (key, value) in own.filter(|(key, _)| known.get(key).is_none()) {
                        if *wanted == false {
                            faults.push(format!("{at}.{key}: no such field"));
                        } else {
                            self.find_faults(value, wanted, file, &format!("{at}.{key}"), faults);
                        }
                    }
                    true
                }
                "items" => {
                    for value in value.as_array().into_iter().flatten() {
                        self.find_faults(value, wanted, file, &format!("{at}[]"), faults);
                    }
                    true
                }
                other => panic!("{at}: `{other}` is not known here"),
            };
            if !fits {
                faults.push(format!("{at}: {keyword} {wanted}"));
            }
        }
    }

    fn resolve(&self, reference: &str, file: &str) -> (&str, &Value) {
        let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let name = if name.is_empty() { file } else { name };
        let (name, whole) = self.files.get_key_value(name).unwrap();
        (name, whole.pointer(pointer).unwrap())
    }
}

fn has_type(value: &Value, wanted: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type: {other}"),
    };
    match wanted {
        Value::Array(list) => list.iter().any(is),
        name => is(name),
    }
}

/// What the schema names is what the program offers, and the guide has all of it.
#[test]
fn every_message_is_in_the_schema_and_in_the_guide() {
    let sandbox = Sandbox::new();
    let mut host = Host::start(&sandbox);
    let hello = host.ask("initialize", &json!({}));
    host.hang_up();
    let guide = include_str!("../../../../../docs/guide/embedding.md");
    let messages = Messages::load();
    let definitions = messages.files["rpc.json"]["$defs"].as_object().unwrap();
    let mut requests: Vec<&str> = (definitions.keys())
        .filter_map(|name| name.strip_suffix("_request"))
        .filter(|name| *name != "callback")
        .collect();
    let mut methods: Vec<&str> = (hello["methods"].as_array().unwrap().iter())
        .map(|name| name.as_str().unwrap())
        .collect();
    requests.sort_unstable();
    methods.sort_unstable();
    assert_eq!(requests, methods);
    for (name, definition) in definitions {
        if let Some(method) = name.strip_suffix("_result") {
            let request = definitions.contains_key(&format!("{method}_request"));
            assert!(request, "{name}");
            continue;
        }
        let params = &definition["properties"]["params"]["properties"];
        for key in params.as_object().into_iter().flatten().map(|(key, _)| key) {
            let (code, field) = (format!("`{key}`"), format!("\"{key}\":"));
            assert!(
                guide.contains(&code) || guide.contains(&field),
                "{name}: {key}"
            );
        }
        if let Some(method) = definition["properties"]["method"]["const"].as_str() {
            let (code, sent) = (format!("`{method}`"), format!("\"method\": \"{method}\""));
            assert!(guide.contains(&code) || guide.contains(&sent), "{method}");
        }
    }
}
