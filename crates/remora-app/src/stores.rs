//! Stores by address: `sqlite:PATH`, and whatever else a host registers. A second
//! backend is one more scheme here and nothing anywhere else.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use remora_memory::store::{Store, StoreError};
use remora_store::Access;

/// The address of a store, `SCHEME:PLACE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrl {
    scheme: String,
    /// A path need not be text.
    place: OsString,
}

impl StoreUrl {
    /// Reads an address.
    pub fn parse(text: &str) -> Self {
        let (scheme, place) = text.split_once(':').unwrap_or((text, ""));
        Self {
            scheme: scheme.to_owned(),
            place: place.into(),
        }
    }

    /// The address of a database file.
    pub fn for_database(file: &Path) -> Self {
        Self {
            scheme: SQLITE_SCHEME.to_owned(),
            place: file.into(),
        }
    }
}

/// The scheme of database files.
const SQLITE_SCHEME: &str = "sqlite";

/// Opens the stores of one scheme.
pub trait StoreFactory: Send + Sync {
    /// The store at this place, which is the address behind its scheme.
    /// [`StoreError::Empty`] says that nothing was ever stored there.
    fn open(&self, place: &OsStr, access: Access) -> Result<Box<dyn Store>, StoreError>;
}

/// The schemes that are known.
pub struct StoreFactories(Vec<(&'static str, Box<dyn StoreFactory>)>);

impl Default for StoreFactories {
    fn default() -> Self {
        Self(vec![(SQLITE_SCHEME, Box::new(SqliteFactory))])
    }
}

impl StoreFactories {
    /// One scheme more.
    #[must_use]
    pub fn with(mut self, scheme: &'static str, factory: Box<dyn StoreFactory>) -> Self {
        self.0.push((scheme, factory));
        self
    }

    /// Opens the store at an address.
    pub fn open(&self, url: &StoreUrl, access: Access) -> Result<Box<dyn Store>, StoreError> {
        let found = self.0.iter().find(|(known, _)| *known == url.scheme);
        let (_, factory) = found.ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|(known, _)| *known).collect();
            StoreError::Failed(format!(
                "`{}:` is no kind of store; there are {}",
                url.scheme,
                known.join(", ")
            ))
        })?;
        factory.open(&url.place, access)
    }
}

impl fmt::Debug for StoreFactories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(scheme, _)| scheme))
            .finish()
    }
}

/// The database that every machine has.
struct SqliteFactory;

impl StoreFactory for SqliteFactory {
    fn open(&self, place: &OsStr, access: Access) -> Result<Box<dyn Store>, StoreError> {
        let path = Path::new(place);
        // A reader does not make a database.
        if access != Access::Write && !path.exists() {
            return Err(StoreError::Empty);
        }
        Ok(Box::new(remora_server::open_database(path, access)?))
    }
}
