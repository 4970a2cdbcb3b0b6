//! Newtypes for what would otherwise be a bare string or number, so that a
//! session can never be passed where a project is meant.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

macro_rules! string_ids {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            #[serde(transparent)]
            pub struct $name(String);

            impl $name {
                #[doc = "The id as it is stored and shown."]
                pub fn as_str(&self) -> &str {
                    &self.0
                }

                #[doc = "The id as an owned string."]
                pub fn into_string(self) -> String {
                    self.0
                }
            }

            impl From<String> for $name {
                fn from(text: String) -> Self {
                    Self(text)
                }
            }

            impl From<&str> for $name {
                fn from(text: &str) -> Self {
                    Self(text.to_owned())
                }
            }

            impl From<&String> for $name {
                fn from(text: &String) -> Self {
                    Self(text.clone())
                }
            }

            impl From<$name> for String {
                fn from(id: $name) -> Self {
                    id.0
                }
            }

            // Ids are read far more often than made: where a `&str` is asked
            // for, an id will do, never the other way round.
            impl Deref for $name {
                type Target = str;

                fn deref(&self) -> &str {
                    &self.0
                }
            }

            impl Borrow<str> for $name {
                fn borrow(&self) -> &str {
                    &self.0
                }
            }

            impl AsRef<str> for $name {
                fn as_ref(&self) -> &str {
                    &self.0
                }
            }

            impl PartialEq<str> for $name {
                fn eq(&self, other: &str) -> bool {
                    self.0 == other
                }
            }

            impl PartialEq<&str> for $name {
                fn eq(&self, other: &&str) -> bool {
                    self.0 == *other
                }
            }

            impl PartialEq<String> for $name {
                fn eq(&self, other: &String) -> bool {
                    self.0 == *other
                }
            }

            impl PartialEq<$name> for str {
                fn eq(&self, other: &$name) -> bool {
                    *self == other.0
                }
            }

            impl PartialEq<$name> for &str {
                fn eq(&self, other: &$name) -> bool {
                    **self == other.0
                }
            }

            impl PartialEq<$name> for String {
                fn eq(&self, other: &$name) -> bool {
                    *self == other.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.pad(&self.0)
                }
            }
        )*
    };
}

string_ids! {
    /// The name of an agent, such as `claude-code`.
    AgentId
    /// A session, as its agent names it.
    SessionId
    /// One tool call within a session.
    CallId
    /// What one prompt set going within a session.
    TurnId
    /// A project: its remote, or the folder it lies in.
    ProjectKey
    /// An item, by the name that never changes.
    ItemUid
}

impl SessionId {
    /// The session of events that name none.
    pub const UNKNOWN: &'static str = "unknown";
}

/// A point in time: milliseconds since 1970, in UTC.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }
}

impl From<i64> for Timestamp {
    fn from(millis: i64) -> Self {
        Self(millis)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&crate::time::format_rfc3339(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain_values_in_json() {
        let json = serde_json::to_string(&(SessionId::from("s-1"), Timestamp(7))).unwrap();
        assert_eq!(json, r#"["s-1",7]"#);
        let (session, at): (SessionId, Timestamp) = serde_json::from_str(&json).unwrap();
        assert_eq!((session.as_str(), at.as_millis()), ("s-1", 7));
    }

    #[test]
    fn a_timestamp_is_shown_as_a_date() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
