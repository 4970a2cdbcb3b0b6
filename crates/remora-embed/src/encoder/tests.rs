//! The encoder gives what the reference engine gives, and refuses what is no
//! encoder.

use std::fs;
use std::path::PathBuf;

use super::{Effort, EmbedError, Encoder, EncoderSource};
use crate::embedding::Embedding;

/// The smallest sound network: it adds two numbers.
const ADDER: &[u8] = include_bytes!("../../cases/adder.onnx");
/// The right inputs and output, and a vector of three numbers.
const SHORT: &[u8] = include_bytes!("../../cases/short.onnx");

struct Case {
    text: String,
    first: Vec<f32>,
    cosines: Vec<f32>,
}

fn cases() -> Vec<Case> {
    let numbers = |text: &str| text.split(' ').map(|x| x.parse().unwrap()).collect();
    include_str!("../../cases/encoder.tsv")
        .lines()
        .map(|line| {
            let mut columns = line.split('\t');
            let mut column = || columns.next().unwrap();
            Case {
                text: column().to_owned(),
                first: numbers(column()),
                cosines: numbers(column()),
            }
        })
        .collect()
}

/// The components as numbers again.
fn components(embedding: &Embedding) -> Vec<f32> {
    let bytes = embedding.to_bytes();
    let (head, steps) = bytes.split_first_chunk::<4>().unwrap();
    let scale = f32::from_le_bytes(*head);
    steps
        .iter()
        .map(|step| f32::from(step.cast_signed()) * scale)
        .collect()
}

#[test]
fn meanings_are_those_of_the_reference() {
    let encoder = Encoder::load(&EncoderSource::BuiltIn).unwrap();
    let cases = cases();
    assert!(cases.len() >= 10);
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let embeddings = encoder.encode(&texts, Effort::Quiet).unwrap();
    for (case, embedding) in cases.iter().zip(&embeddings) {
        assert_eq!(embedding.dims(), crate::EMBEDDING_DIMS);
        // Processors differ in how they add up bytes, hence the room.
        let first = &components(embedding)[..case.first.len()];
        let near =
            Embedding::from_vector(first).cosine_similarity(&Embedding::from_vector(&case.first));
        assert!(near > 0.95, "{}: {near}", case.text);
        for (other, wanted) in embeddings.iter().zip(&case.cosines) {
            let ours = embedding.cosine_similarity(other);
            assert!(
                (ours - wanted).abs() < 0.08,
                "{}: {ours} {wanted}",
                case.text
            );
        }
    }
    // Neither the rest of a batch nor threads change an embedding.
    for (text, embedding) in texts.iter().zip(&embeddings) {
        let alone = encoder.encode(&[text], Effort::Full).unwrap();
        assert_eq!(alone.first(), Some(embedding), "{text}");
    }
    assert_eq!(encoder.encode(&[], Effort::Full), Ok(Vec::new()));
}

#[test]
fn what_is_no_encoder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let weights = fs::read(built_in()).unwrap();
    let noise: Vec<u8> = (0_u32..50_000)
        .map(|x| x.wrapping_mul(2_654_435_761).to_le_bytes()[3])
        .collect();
    let mut torn = weights.clone();
    torn.drain(100_000..200_000);
    let broken: [(&str, &[u8]); 9] = [
        ("empty", b""),
        ("text", b"not an encoder"),
        ("noise", &noise),
        ("head", &weights[..1000]),
        ("half", &weights[..weights.len() / 2]),
        ("nearly", &weights[..weights.len() - 100]),
        ("torn", &torn),
        ("adder", ADDER),
        ("short", SHORT),
    ];
    for (name, bytes) in broken {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = Encoder::load(&EncoderSource::File(path)).unwrap_err();
        assert!(matches!(error, EmbedError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("missing"), folder.path().to_owned()] {
        let error = Encoder::load(&EncoderSource::File(path.clone())).unwrap_err();
        assert!(matches!(&error, EmbedError::Read { path: named, .. } if *named == path));
    }
}

#[test]
fn the_same_weights_from_a_file_give_the_same() {
    let [file, built_in] =
        [EncoderSource::File(built_in()), EncoderSource::BuiltIn].map(|source| {
            Encoder::load(&source)
                .unwrap()
                .encode(&["some text"], Effort::Quiet)
        });
    assert_eq!(file, built_in);
}

fn built_in() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../assets/minilm.int8.onnx"]
        .iter()
        .collect()
}
