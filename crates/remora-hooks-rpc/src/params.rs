//! Parameters, checked with the method's row and taken out one by one.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::message::{INVALID_PARAMS, RpcError};
use crate::shapes::Field;

/// The parameters of one request.
#[derive(Debug)]
pub(crate) struct Params {
    values: Map<String, Value>,
    fields: &'static [Field],
}

impl Params {
    /// Refuses what the method does not take: a misspelt parameter must not be
    /// ignored in silence.
    pub(crate) fn new(
        values: Map<String, Value>,
        fields: &'static [Field],
    ) -> Result<Self, RpcError> {
        match values.keys().find(|key| !is_field(fields, key)) {
            None => Ok(Self { values, fields }),
            Some(key) => Err(RpcError::about(
                INVALID_PARAMS,
                key,
                "is no parameter of it",
            )),
        }
    }

    pub(crate) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, RpcError> {
        self.take_optional(key)?
            .ok_or_else(|| RpcError::about(INVALID_PARAMS, key, "is missing"))
    }

    /// `null` counts as absent.
    pub(crate) fn take_optional<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<Option<T>, RpcError> {
        debug_assert!(is_field(self.fields, key), "`{key}` is not in the table");
        match self.values.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => serde_json::from_value(value).map(Some).map_err(|error| {
                RpcError::about(INVALID_PARAMS, key, format!("is wrong: {error}"))
            }),
        }
    }

    /// Everything has been taken that the table lists.
    pub(crate) fn finish(self) {
        debug_assert!(self.values.is_empty(), "not taken: {:?}", self.values);
    }
}

fn is_field(fields: &[Field], key: &str) -> bool {
    fields.iter().any(|field| field.name == key)
}
