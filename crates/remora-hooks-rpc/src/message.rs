//! What a line says, and the objects that answer it. Pure.

use serde_json::{Map, Value, json};

/// The line is not JSON, or too long.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// JSON, but not a request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// There is no such method.
pub(crate) const UNKNOWN_METHOD: i32 = -32601;
/// A parameter is missing, wrong or unknown; `data.key` names it.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// The request was understood and could not be done.
pub(crate) const FAILED: i32 = -32000;
/// Too much is under way; the same request may succeed later.
pub(crate) const BUSY: i32 = -32001;

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
    /// The key at fault.
    pub(crate) key: Option<String>,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            key: None,
        }
    }

    pub(crate) fn about(code: i32, key: &str, why: impl std::fmt::Display) -> Self {
        Self {
            code,
            message: format!("`{key}` {why}"),
            key: Some(key.to_owned()),
        }
    }

    pub(crate) fn failed(why: impl std::fmt::Display) -> Self {
        Self::new(FAILED, why.to_string())
    }
}

/// What a host sends.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// Without an id it is a notification: done, and not answered.
    Request {
        id: Option<Value>,
        method: String,
        params: Map<String, Value>,
    },
    /// The answer to a request of ours.
    Response {
        id: Value,
        result: Result<Value, String>,
    },
}

/// A line that is not a request, and the id that its error carries.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) id: Value,
    pub(crate) error: Box<RpcError>,
}

impl Refused {
    /// Of a request whose id cannot be read.
    pub(crate) fn of_unknown(error: RpcError) -> Self {
        Self {
            id: Value::Null,
            error: Box::new(error),
        }
    }
}

pub(crate) fn parse_line(line: &[u8]) -> Result<Incoming, Refused> {
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        Refused::of_unknown(RpcError::new(PARSE_ERROR, format!("not JSON: {error}")))
    })?;
    let Value::Object(mut fields) = value else {
        return Err(Refused::of_unknown(RpcError::new(
            INVALID_REQUEST,
            "a request is an object; send one a line",
        )));
    };
    let id = fields.remove("id");
    // A fraction may come back as another one, and then the answer has no request.
    let known_id = id
        .as_ref()
        .is_none_or(|id| id.is_string() || id.is_i64() || id.is_u64() || id.is_null());
    let answered = id.clone().filter(|_| known_id).unwrap_or_default();
    let refuse = |code: i32, key: &str, why: &str| {
        Err(Refused {
            id: answered.clone(),
            error: Box::new(RpcError::about(code, key, why)),
        })
    };
    if !known_id {
        return refuse(INVALID_REQUEST, "id", "must be a string or a whole number");
    }
    if fields.get("jsonrpc") != Some(&Value::from("2.0")) {
        return refuse(INVALID_REQUEST, "jsonrpc", "must be \"2.0\"");
    }
    match fields.remove("method") {
        Some(Value::String(method)) => match fields.remove("params") {
            None | Some(Value::Null) => Ok(Incoming::Request {
                id,
                method,
                params: Map::new(),
            }),
            Some(Value::Object(params)) => Ok(Incoming::Request { id, method, params }),
            Some(_) => refuse(INVALID_PARAMS, "params", "must be an object"),
        },
        Some(_) => refuse(INVALID_REQUEST, "method", "must be a string"),
        None => match (fields.remove("result"), fields.remove("error")) {
            (None, None) => refuse(INVALID_REQUEST, "method", "is missing"),
            (Some(result), None) => Ok(Incoming::Response {
                id: answered,
                result: Ok(result),
            }),
            (_, Some(error)) => {
                let message = error.get("message").and_then(Value::as_str);
                let why = message.unwrap_or("the host answered with an error");
                Ok(Incoming::Response {
                    id: answered,
                    result: Err(why.to_owned()),
                })
            }
        },
    }
}

pub(crate) fn build_answer(id: &Value, result: Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => {
            let mut body = json!({"code": error.code, "message": error.message});
            if let Some(key) = error.key {
                body["data"] = json!({"key": key});
            }
            json!({"jsonrpc": "2.0", "id": id, "error": body})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_requests_are_refused_with_the_key_at_fault() {
        let cases = [
            ("{", PARSE_ERROR, None, Value::Null),
            ("\u{ff}", PARSE_ERROR, None, Value::Null),
            ("[]", INVALID_REQUEST, None, Value::Null),
            (r#"{"id":1}"#, INVALID_REQUEST, Some("jsonrpc"), json!(1)),
            (
                r#"{"jsonrpc":"2.0","id":"a"}"#,
                INVALID_REQUEST,
                Some("method"),
                json!("a"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":[],"method":"fire"}"#,
                INVALID_REQUEST,
                Some("id"),
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":60000000000000000000000,"method":"fire"}"#,
                INVALID_REQUEST,
                Some("id"),
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":7}"#,
                INVALID_REQUEST,
                Some("method"),
                json!(2),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"method":"fire","params":[1]}"#,
                INVALID_PARAMS,
                Some("params"),
                json!(3),
            ),
        ];
        for (line, code, key, id) in cases {
            let refused =
                parse_line(line.as_bytes()).map_err(|r| (r.error.code, r.error.key, r.id));
            assert_eq!(refused, Err((code, key.map(str::to_owned), id)), "{line}");
        }
    }
}
