//! What tests of use cases stand on: an app in a folder of its own, over a store in
//! memory that a factory opens by its address.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use remora_app::config::Config;
use remora_app::{
    App, AppParts, Caller, CallerKind, Clock, StoreFactories, StoreFactory, StoreUrl,
};
use remora_client::DataPaths;
use remora_core::record::{Item, Project};
use remora_memory::store::{Batch, ItemWrite, Store, StoreError};
use remora_memory::testing::{MemoryStore, item};
use remora_store::Access;
use tempfile::TempDir;

/// 2026-11-16 at noon, UTC.
pub(crate) const NOON: i64 = 1_794_830_400_000;

/// A minimal second backend: every opening gives the same rows.
pub(crate) struct MemoryFactory(Batch);

impl StoreFactory for MemoryFactory {
    fn open(&self, place: &OsStr, _: Access) -> Result<Box<dyn Store>, StoreError> {
        if place == "nothing" {
            return Err(StoreError::Empty);
        }
        let store = MemoryStore::default();
        store.apply(&self.0)?;
        Ok(Box::new(store))
    }
}

/// A project, a data directory and what is remembered.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) batch: Batch,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["data", "shop", "notes"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let bench = Self {
            folder,
            batch: Batch::default(),
        };
        let shop = bench.folder_of("shop");
        Self {
            batch: Batch {
                projects: vec![Project {
                    key: bench.project("shop").as_str().into(),
                    name: "shop".to_owned(),
                    root: shop.display().to_string(),
                }],
                ..Batch::default()
            },
            ..bench
        }
    }

    pub(crate) fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The key of the project in a folder.
    pub(crate) fn project(&self, name: &str) -> String {
        let app = self.app(CallerKind::User, "", "memory:");
        let location = app.locate_folder(&self.folder_of(name));
        location.project.key.to_string()
    }

    /// One more item of a project.
    pub(crate) fn remember(&mut self, project: &str, uid: &str, title: &str) -> &mut Item {
        let row = Item {
            project: self.project(project).as_str().into(),
            time: NOON,
            ..item(uid, title)
        };
        self.batch.items.push(ItemWrite::Add(row));
        let ItemWrite::Add(row) = self.batch.items.last_mut().unwrap() else {
            unreachable!("it was just added")
        };
        row
    }

    /// The use cases for a caller in the shop.
    pub(crate) fn app(&self, kind: CallerKind, settings: &str, url: &str) -> App {
        let stores = StoreFactories::default();
        let stores = stores.with("memory", Box::new(MemoryFactory(self.batch.clone())));
        let parts = AppParts {
            paths: DataPaths::new(self.folder_of("data")),
            config: Config::parse(settings).unwrap(),
            caller: Caller {
                kind,
                directory: Some(self.folder_of("shop")),
                home: None,
            },
            clock: Clock {
                now_ms: || NOON,
                zone: TimeZone::UTC,
            },
            program: None,
        };
        App::new(parts).with_store(Arc::new(stores), StoreUrl::parse(url))
    }

    /// The same over a database, which holds what is remembered so far.
    pub(crate) fn stored(&self, kind: CallerKind) -> App {
        let app = self.app(kind, "", "memory:");
        let url = StoreUrl::for_database(&app.paths.database_file());
        let app = app.with_store(Arc::new(StoreFactories::default()), url);
        app.prepare_data_dir().unwrap();
        app.open_writable_store()
            .unwrap()
            .apply(&self.batch)
            .unwrap();
        app
    }

    pub(crate) fn user(&self) -> App {
        self.app(CallerKind::User, "", "memory:")
    }
}
