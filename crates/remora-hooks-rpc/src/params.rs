//! Parameters, taken out one by one, so that what is left is unknown.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::message::{INVALID_PARAMS, RpcError};

/// The parameters of one request.
#[derive(Debug)]
pub(crate) struct Params(pub(crate) Map<String, Value>);

impl Params {
    pub(crate) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, RpcError> {
        self.take_optional(key)?
            .ok_or_else(|| RpcError::about(INVALID_PARAMS, key, "is missing"))
    }

    /// `null` counts as absent.
    pub(crate) fn take_optional<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<Option<T>, RpcError> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => serde_json::from_value(value).map(Some).map_err(|error| {
                RpcError::about(INVALID_PARAMS, key, format!("is wrong: {error}"))
            }),
        }
    }

    /// A misspelt parameter must not be ignored in silence.
    pub(crate) fn finish(self) -> Result<(), RpcError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(RpcError::about(
                INVALID_PARAMS,
                key,
                "is no parameter of it",
            )),
        }
    }
}
