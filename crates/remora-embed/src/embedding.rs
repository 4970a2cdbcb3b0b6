//! An embedding: a unit vector with one byte per dimension, and the similarity
//! of two of them. Knows nothing of texts or of the model that made it.
//!
//! Accuracy: each component is off by at most 1/254 of the largest one, at
//! random, so the cosine of two vectors of 128 or 384 dimensions is off by less
//! than 0.01 and mostly by less than 0.002. A vector with itself gives 1.

mod bits;
#[cfg(test)]
mod tests;

/// How many products are summed together; see `dot_product`.
const LANES: usize = 32;
/// How many lanes are summed before the sum is widened: 128 x 128 x 32 x this
/// still fits into an `i32`.
const LANES_PER_BLOCK: usize = 128;
/// The bytes of the scale, before the components.
const HEADER_BYTES: usize = 4;

/// A unit vector: `scale` times `v`.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    scale: f32,
    v: Vec<i8>,
}

impl Embedding {
    /// The direction of a vector. A vector without one (zeros, NaN or infinity)
    /// gives zeros, which are similar to nothing.
    pub fn from_vector(vector: &[f32]) -> Self {
        let top = vector.iter().fold(0.0_f32, |top, x| top.max(x.abs()));
        // A subnormal maximum counts as zero: dividing by it could overflow.
        let sound = vector.iter().all(|x| x.is_finite()) && top >= f32::MIN_POSITIVE;
        if !sound {
            return Self {
                scale: 0.0,
                v: vec![0; vector.len()],
            };
        }
        let v: Vec<i8> = vector.iter().map(|x| quantise_component(x / top)).collect();
        Self {
            scale: unit_scale(&v),
            v,
        }
    }

    /// How many dimensions it has.
    pub fn dims(&self) -> usize {
        self.v.len()
    }

    /// Whether it points nowhere: its cosine with anything is 0.
    pub fn is_blank(&self) -> bool {
        self.scale == 0.0
    }

    /// The cosine of the two, from -1 to 1. Vectors of different lengths come
    /// from different models and are not comparable: 0.
    pub fn cosine_similarity(&self, other: &Self) -> f32 {
        if self.v.len() != other.v.len() {
            return 0.0;
        }
        let dot = dot_product(&self.v, &other.v, |a, b| (a.into(), b.into()));
        scale_product(dot, self.scale, other.scale)
    }

    /// The stored form: the scale, then one byte per dimension. Databases hold
    /// it, and a worker sends it to hooks of other versions.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.v.len());
        bytes.extend_from_slice(&self.scale.to_le_bytes());
        bytes.extend(self.v.iter().map(|x| x.cast_unsigned()));
        bytes
    }

    /// Reads the stored form; `None` if the bytes are something else. The scale
    /// is computed from the components, so that no bytes can make a vector longer
    /// than one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let EmbeddingView { v, .. } = EmbeddingView::new(bytes)?;
        let v: Vec<i8> = v.iter().map(|x| x.cast_signed()).collect();
        Some(Self {
            scale: unit_scale(&v),
            v,
        })
    }

    /// The sketch: the signs, one bit per dimension, for a first, rough selection.
    pub fn to_sketch(&self) -> Vec<u8> {
        bits::pack_bits(self.v.iter().map(|x| *x > 0))
    }
}

/// The stored form of an [`Embedding`], borrowed: a search compares thousands and
/// copies none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmbeddingView<'a> {
    scale: f32,
    v: &'a [u8],
}

impl<'a> EmbeddingView<'a> {
    /// Reads the stored form; `None` if the bytes are something else.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (head, v) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let scale = f32::from_le_bytes(*head);
        // Also refuses NaN, which is in no range.
        (0.0..=1.0).contains(&scale).then_some(Self { scale, v })
    }

    /// How many dimensions it has.
    pub fn dims(&self) -> usize {
        self.v.len()
    }

    /// The cosine of the two; see [`Embedding::cosine_similarity`].
    pub fn cosine_similarity(&self, other: &Embedding) -> f32 {
        if self.v.len() != other.v.len() {
            return 0.0;
        }
        let dot = dot_product(self.v, &other.v, |a, b| (a.cast_signed().into(), b.into()));
        scale_product(dot, self.scale, other.scale)
    }
}

/// A component from -1 to 1 as a step from -127 to 127.
#[expect(
    clippy::cast_possible_truncation,
    reason = "at most 127 either way, and a cast saturates"
)]
fn quantise_component(x: f32) -> i8 {
    (x * 127.0).round() as i8
}

/// The factor that makes a unit vector of the steps. Computed from the steps and
/// not from the vector, so that rounding cannot change the length.
fn unit_scale(v: &[i8]) -> f32 {
    let square = dot_product(v, v, |a, b| (a.into(), b.into()));
    if square == 0 {
        return 0.0;
    }
    1.0 / to_f32_lossy(square).sqrt()
}

/// The sum of the products. The compiler turns lanes of a fixed length and
/// sixteen-bit factors into multiply-and-add instructions: four times as fast as
/// the plain sum.
fn dot_product<A: Copy, B: Copy>(a: &[A], b: &[B], wide: impl Fn(A, B) -> (i16, i16)) -> i64 {
    let product = |a: &A, b: &B| {
        let (a, b) = wide(*a, *b);
        i32::from(a) * i32::from(b)
    };
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let rest: i32 = a_rest.iter().zip(b_rest).map(|(a, b)| product(a, b)).sum();
    a.chunks(LANES_PER_BLOCK)
        .zip(b.chunks(LANES_PER_BLOCK))
        .map(|(a, b)| {
            let mut sum = 0_i32;
            for (a, b) in a.iter().zip(b) {
                let lane: i32 = a.iter().zip(b).map(|(a, b)| product(a, b)).sum();
                sum += lane;
            }
            i64::from(sum)
        })
        .sum::<i64>()
        + i64::from(rest)
}

/// A dot product of steps as a cosine; rounding may carry it past 1.
fn scale_product(dot: i64, a: f32, b: f32) -> f32 {
    (to_f32_lossy(dot) * a * b).clamp(-1.0, 1.0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "seven digits are more than a byte a dimension can carry"
)]
fn to_f32_lossy(whole: i64) -> f32 {
    whole as f32
}
