//! Ids as they are stored: a UUID takes 16 bytes instead of 36, and the number
//! after its `/` one to four more. Everything else stays text, so what comes out
//! is always what went in.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};

/// An id on its way into a statement.
pub(crate) struct Id<'a>(pub(crate) &'a str);

impl ToSql for Id<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match pack_id(self.0) {
            Some(bytes) => ToSqlOutput::Owned(Value::Blob(bytes)),
            None => ToSqlOutput::Borrowed(ValueRef::Text(self.0.as_bytes())),
        })
    }
}

/// An id read from a row.
pub(crate) struct OwnedId(pub(crate) String);

impl FromSql for OwnedId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Blob(bytes) => unpack_id(bytes).map(Self).ok_or(FromSqlError::InvalidType),
            other => String::column_result(other).map(Self),
        }
    }
}

fn pack_id(id: &str) -> Option<Vec<u8>> {
    let (uuid, number) = match id.split_once('/') {
        Some((uuid, number)) => (uuid, Some(number)),
        None => (id, None),
    };
    let mut bytes = Vec::with_capacity(17);
    let mut half: Option<u8> = None;
    // Only lowercase digits are packed, because unpacking writes lowercase. Any
    // other spelling stays text.
    if uuid.len() != 36 {
        return None;
    }
    for (at, byte) in uuid.bytes().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        half = match half {
            None => Some(digit),
            Some(high) => {
                bytes.push(high << 4 | digit);
                None
            }
        };
    }
    if let Some(number) = number {
        let value: u32 = number.parse().ok()?;
        // `007` and `+7` would not come back as they were.
        if value.to_string() != number {
            return None;
        }
        let all = value.to_be_bytes();
        // At least one byte, so that `/0` is told apart from no number.
        let skip = all.iter().take_while(|byte| **byte == 0).count().min(3);
        bytes.extend_from_slice(&all[skip..]);
    }
    Some(bytes)
}

fn unpack_id(bytes: &[u8]) -> Option<String> {
    let (uuid, number) = bytes.split_at_checked(16)?;
    let mut out = String::with_capacity(40);
    for (at, byte) in uuid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(u32::from(digit), 16)?);
        }
    }
    if !number.is_empty() {
        if number.len() > 4 {
            return None;
        }
        let value = number
            .iter()
            .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        out.push('/');
        out.push_str(&value.to_string());
    }
    Some(out)
}

#[cfg(test)]
mod tests;
