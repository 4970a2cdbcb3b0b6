//! What must hold for any vector.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Embedding, EmbeddingView};

fn exact(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    let cosine = dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt());
    #[expect(clippy::cast_possible_truncation, reason = "compared with an f32")]
    let cosine = cosine as f32;
    cosine
}

fn vector(dims: usize) -> impl Strategy<Value = Vec<f32>> {
    vec(-1.0_f32..1.0, dims)
}

fn anything() -> impl Strategy<Value = Vec<f32>> {
    vec(any::<f32>(), 0..40)
}

proptest! {
    #[test]
    fn cosines_are_near_to_the_exact_ones(a in vector(256), b in vector(256), mix in 0.0_f32..1.0) {
        let b: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a * mix + b * (1.0 - mix)).collect();
        let near = Embedding::from_vector(&a).cosine_similarity(&Embedding::from_vector(&b));
        prop_assert!((near - exact(&a, &b)).abs() < 0.01, "{near} {}", exact(&a, &b));
    }

    #[test]
    fn length_does_not_matter(a in vector(64), b in vector(64), times in 0.001_f32..1000.0) {
        let longer: Vec<f32> = a.iter().map(|x| x * times).collect();
        let b = Embedding::from_vector(&b);
        let difference = Embedding::from_vector(&a).cosine_similarity(&b) - Embedding::from_vector(&longer).cosine_similarity(&b);
        prop_assert!(difference.abs() < 0.005);
    }

    #[test]
    fn any_numbers_give_a_sound_meaning(a in anything(), b in anything()) {
        let (a, b) = (Embedding::from_vector(&a), Embedding::from_vector(&b));
        let cosine = a.cosine_similarity(&b);
        prop_assert!((-1.0..=1.0).contains(&cosine));
        let own = a.cosine_similarity(&a);
        let whole = if a.is_blank() { 0.0 } else { 1.0 };
        prop_assert!((own - whole).abs() < 1e-4, "{own}");
        if a.dims() != b.dims() {
            prop_assert!(cosine.abs() < f32::MIN_POSITIVE);
        }
    }

    #[test]
    fn what_is_stored_comes_back(a in anything(), b in vector(16)) {
        let (a, b) = (Embedding::from_vector(&a), Embedding::from_vector(&b));
        let bytes = a.to_bytes();
        prop_assert_eq!(bytes.len(), 4 + a.dims());
        let view = EmbeddingView::new(&bytes).unwrap();
        prop_assert_eq!(view.dims(), a.dims());
        prop_assert_eq!(view.cosine_similarity(&b).to_bits(), a.cosine_similarity(&b).to_bits());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..40), b in vector(16)) {
        let view = EmbeddingView::new(&bytes);
        prop_assert!(bytes.len() >= 4 || view.is_none());
        if let Some(view) = view {
            prop_assert!((-1.0..=1.0).contains(&view.cosine_similarity(&Embedding::from_vector(&b))));
        }
    }

    #[test]
    fn sketches_are_the_signs(a in vector(77)) {
        let embedding = Embedding::from_vector(&a);
        let sketch = embedding.to_sketch();
        prop_assert_eq!(sketch.len(), 10);
        for (at, step) in embedding.v.iter().enumerate() {
            prop_assert_eq!(sketch[at / 8] >> (at % 8) & 1 == 1, *step > 0);
        }
    }
}

#[test]
fn opposite_is_minus_one_and_across_is_zero() {
    let east = Embedding::from_vector(&[3.0, 0.0]);
    let west = Embedding::from_vector(&[-0.5, 0.0]);
    let north = Embedding::from_vector(&[0.0, 7.0]);
    let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
    assert!(near(east.cosine_similarity(&west), -1.0));
    assert!(near(east.cosine_similarity(&north), 0.0));
    assert!(near(east.cosine_similarity(&east), 1.0));
}

#[test]
fn nothing_gives_nothing() {
    for vector in [
        &[0.0, 0.0][..],
        &[f32::NAN, 1.0],
        &[f32::INFINITY, 1.0],
        &[],
    ] {
        let embedding = Embedding::from_vector(vector);
        assert!(embedding.is_blank(), "{vector:?}");
        assert_eq!(embedding.dims(), vector.len());
    }
}

#[test]
fn a_scale_that_is_no_scale_is_refused() {
    for scale in [f32::NAN, f32::INFINITY, -0.5, 2.0] {
        let mut bytes = scale.to_le_bytes().to_vec();
        bytes.extend([1, 2, 3]);
        assert_eq!(EmbeddingView::new(&bytes), None, "{scale}");
    }
}

#[test]
fn very_long_vectors_do_not_overflow() {
    let long = Embedding::from_vector(&vec![1.0; 300_000]);
    assert!((long.cosine_similarity(&long) - 1.0).abs() < 1e-4);
}
