//! The network and the engine that runs it. Only this file uses the engine.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use super::tokens::Tokens;
use super::{Effort, EmbedError, EncoderSource, MAX_TOKENS};
use crate::EMBEDDING_DIMS;

static BUILT_IN_WEIGHTS: &[u8] = include_bytes!("../../../../assets/minilm.int8.onnx");

/// A network with the inputs and the output that it must have.
pub(super) struct Network {
    model: Model,
    ids: NodeId,
    mask: NodeId,
    out: NodeId,
    quiet: OnceLock<Arc<ThreadPool>>,
    full: OnceLock<Arc<ThreadPool>>,
}

impl Network {
    pub(super) fn load(source: &EncoderSource) -> Result<Self, EmbedError> {
        let unusable = |reason: String| EmbedError::Unusable {
            source_name: source.to_string(),
            reason,
        };
        let mut options = ModelOptions::with_all_ops();
        // A short text takes a third of the time with packed weights. But the engine
        // packs them without their zero point, which is known to be zero only for
        // the built-in weights.
        options.prepack_weights(*source == EncoderSource::BuiltIn);
        let model = match source {
            EncoderSource::BuiltIn => options.load_static_slice(BUILT_IN_WEIGHTS),
            EncoderSource::File(path) => {
                let bytes = read_weights(path).map_err(|reason| EmbedError::Read {
                    path: path.clone(),
                    reason,
                })?;
                options.load(bytes)
            }
        }
        .map_err(|error| unusable(error.to_string()))?;
        let node = |name: &str| {
            model
                .find_node(name)
                .ok_or_else(|| unusable(format!("it has no {name}")))
        };
        let (ids, mask, out) = (node("input_ids")?, node("attention_mask")?, node("emb")?);
        let network = Self {
            model,
            ids,
            mask,
            out,
            quiet: OnceLock::new(),
            full: OnceLock::new(),
        };
        // The built-in weights are tested with every build; a file may hold another
        // network whose inputs have the right names.
        if let EncoderSource::File(_) = source {
            let word = Tokens::from_text("word", MAX_TOKENS);
            network
                .run(&word, Effort::Quiet)
                .map_err(|error| unusable(error.to_string()))?;
        }
        Ok(network)
    }

    /// The vector of a text.
    pub(super) fn run(&self, text: &Tokens, effort: Effort) -> Result<Vec<f32>, EmbedError> {
        let failed = |reason: String| EmbedError::Run { reason };
        let shape = [1, text.len()];
        let ids: Vec<i32> = text.iter().map(i32::from).collect();
        let ids = NdTensor::try_from_data(shape, ids).map_err(|error| failed(error.to_string()))?;
        // Texts run one at a time and need no padding, so every token counts.
        let mask = NdTensor::full(shape, 1_i32);
        let inputs = vec![(self.ids, ids.into()), (self.mask, mask.into())];
        let options = RunOptions::default().with_thread_pool(Some(self.thread_pool(effort)));
        let outputs = self
            .model
            .run(inputs, &[self.out], Some(options))
            .map_err(|error| failed(error.to_string()))?;
        let output = outputs
            .into_iter()
            .next()
            .ok_or_else(|| failed("it gave nothing".into()))?;
        let vector: NdTensor<f32, 2> = output
            .try_into()
            .map_err(|error: rten::TryFromValueError| failed(error.to_string()))?;
        match vector.shape() {
            [1, EMBEDDING_DIMS] => Ok(vector.to_vec()),
            [rows, dims] => Err(failed(format!(
                "it gave {rows} x {dims} numbers for a text, not 1 x {EMBEDDING_DIMS}"
            ))),
        }
    }

    /// The threads to run on. The engine's own pool has a thread for each core,
    /// too many for a background process, and is never used.
    fn thread_pool(&self, effort: Effort) -> Arc<ThreadPool> {
        let (pool, threads) = match effort {
            Effort::Quiet => (&self.quiet, 1),
            Effort::Full => (&self.full, 2),
        };
        pool.get_or_init(|| Arc::new(ThreadPool::with_num_threads(threads)))
            .clone()
    }
}

/// The largest file that is read as weights.
const MAX_WEIGHTS_BYTES: u64 = 512 * 1024 * 1024;

/// Reads a regular file only: a pipe or a device might never end.
fn read_weights(path: &Path) -> Result<Vec<u8>, String> {
    let to_message = |error: std::io::Error| error.to_string();
    let meta = fs::metadata(path).map_err(to_message)?;
    if !meta.is_file() {
        return Err("it is not a file".to_owned());
    }
    if meta.len() > MAX_WEIGHTS_BYTES {
        return Err(format!(
            "it has more than {} MB",
            MAX_WEIGHTS_BYTES / 1024 / 1024
        ));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(to_message)?;
    file.take(MAX_WEIGHTS_BYTES)
        .read_to_end(&mut bytes)
        .map_err(to_message)?;
    Ok(bytes)
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}
