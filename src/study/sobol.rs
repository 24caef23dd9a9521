//! Sobol' points: a sequence that fills the unit cube more evenly than random points do.
//!
//! ```text
//!   x_k = g₁ V₁ ⊕ g₂ V₂ ⊕ ...,   g = the Gray code of k,   V_i = m_i / 2^i
//!   m_i = 2 a₁ m_{i−1} ⊕ 2² a₂ m_{i−2} ⊕ ... ⊕ 2^s m_{i−s} ⊕ m_{i−s}
//! ```
//!
//! The primitive polynomials a and the first m are those of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008, table new-joe-kuo-6). A
//! random digital shift, the same for all points, keeps the evenness and avoids the corner 0.

/// Bits of a coordinate.
const BITS: usize = 52;

/// Most dimensions.
pub const MOST_DIMENSIONS: usize = DIRECTIONS.len() + 1;

/// Of the second dimension and those behind it: the inner coefficients of the polynomial as bits, and the first m.
#[rustfmt::skip]
const DIRECTIONS: [(u32, &[u64]); 63] = [
    (0, &[1]), (1, &[1, 3]), (1, &[1, 3, 1]), (2, &[1, 1, 1]), (1, &[1, 1, 3, 3]), (4, &[1, 3, 5, 13]),
    (2, &[1, 1, 5, 5, 17]), (4, &[1, 1, 5, 5, 5]), (7, &[1, 1, 7, 11, 19]), (11, &[1, 1, 5, 1, 1]),
    (13, &[1, 1, 1, 3, 11]), (14, &[1, 3, 5, 5, 31]), (1, &[1, 3, 3, 9, 7, 49]), (13, &[1, 1, 1, 15, 21, 21]),
    (16, &[1, 3, 1, 13, 27, 49]), (19, &[1, 1, 1, 15, 7, 5]), (22, &[1, 3, 1, 15, 13, 25]),
    (25, &[1, 1, 5, 5, 19, 61]), (1, &[1, 3, 7, 11, 23, 15, 103]), (4, &[1, 3, 7, 13, 13, 15, 69]),
    (7, &[1, 1, 3, 13, 7, 35, 63]), (8, &[1, 3, 5, 9, 1, 25, 53]), (14, &[1, 3, 1, 13, 9, 35, 107]),
    (19, &[1, 3, 1, 5, 27, 61, 31]), (21, &[1, 1, 5, 11, 19, 41, 61]), (28, &[1, 3, 5, 3, 3, 13, 69]),
    (31, &[1, 1, 7, 13, 1, 19, 1]), (32, &[1, 3, 7, 5, 13, 19, 59]), (37, &[1, 1, 3, 9, 25, 29, 41]),
    (41, &[1, 3, 5, 13, 23, 1, 55]), (42, &[1, 3, 7, 3, 13, 59, 17]), (50, &[1, 3, 1, 3, 5, 53, 69]),
    (55, &[1, 1, 5, 5, 23, 33, 13]), (56, &[1, 1, 7, 7, 1, 61, 123]), (59, &[1, 1, 7, 9, 13, 61, 49]),
    (62, &[1, 3, 3, 5, 3, 55, 33]), (14, &[1, 3, 1, 15, 31, 13, 49, 245]), (21, &[1, 3, 5, 15, 31, 59, 63, 97]),
    (22, &[1, 3, 1, 11, 11, 11, 77, 249]), (38, &[1, 3, 1, 11, 27, 43, 71, 9]), (47, &[1, 1, 7, 15, 21, 11, 81, 45]),
    (49, &[1, 3, 7, 3, 25, 31, 65, 79]), (50, &[1, 3, 1, 1, 19, 11, 3, 205]), (52, &[1, 1, 5, 9, 19, 21, 29, 157]),
    (56, &[1, 3, 7, 11, 1, 33, 89, 185]), (67, &[1, 3, 3, 3, 15, 9, 79, 71]), (70, &[1, 3, 7, 11, 15, 39, 119, 27]),
    (84, &[1, 1, 3, 1, 11, 31, 97, 225]), (97, &[1, 1, 1, 3, 23, 43, 57, 177]), (103, &[1, 3, 7, 7, 17, 17, 37, 71]),
    (115, &[1, 3, 1, 5, 27, 63, 123, 213]), (122, &[1, 1, 3, 5, 11, 43, 53, 133]),
    (8, &[1, 3, 5, 5, 29, 17, 47, 173, 479]), (13, &[1, 3, 3, 11, 3, 1, 109, 9, 69]),
    (16, &[1, 1, 1, 5, 17, 39, 23, 5, 343]), (22, &[1, 3, 1, 5, 25, 15, 31, 103, 499]),
    (25, &[1, 1, 1, 11, 11, 17, 63, 105, 183]), (44, &[1, 1, 5, 11, 9, 29, 97, 231, 363]),
    (47, &[1, 1, 5, 15, 19, 45, 41, 7, 383]), (52, &[1, 3, 7, 7, 31, 19, 83, 137, 221]),
    (55, &[1, 1, 1, 3, 23, 15, 111, 223, 83]), (59, &[1, 1, 5, 13, 31, 15, 55, 25, 161]),
    (62, &[1, 1, 3, 13, 25, 47, 39, 87, 257]),
];

/// A shifted Sobol' sequence.
#[derive(Clone, Debug)]
pub struct Sobol {
    /// V of each dimension, as integers of `BITS` bits.
    directions: Vec<[u64; BITS]>,
    shifts: Vec<u64>,
}

impl Sobol {
    /// In as many dimensions, each with the upper bits of its shift; at most [`MOST_DIMENSIONS`].
    pub fn new(dimensions: usize, shifts: Vec<u64>) -> Self {
        Self {
            directions: (0..dimensions).map(direction_numbers).collect(),
            shifts: shifts.iter().map(|shift| shift >> (64 - BITS)).collect(),
        }
    }

    /// A coordinate of point `k`, from 0: inside (0, 1).
    pub fn coordinate(&self, k: u64, dimension: usize) -> f64 {
        let bits = self.bits(k, dimension) ^ self.shifts[dimension];
        (bits as f64 + 0.5) / (1u64 << BITS) as f64
    }

    fn bits(&self, k: u64, dimension: usize) -> u64 {
        let gray = k ^ (k >> 1);
        let used =
            (self.directions[dimension].iter().enumerate()).filter(|(i, _)| gray >> i & 1 == 1);
        used.fold(0, |bits, (_, v)| bits ^ v)
    }
}

/// V of a dimension, from 0.
fn direction_numbers(dimension: usize) -> [u64; BITS] {
    let mut m = [1u64; BITS];
    if dimension > 0 {
        let (a, first) = DIRECTIONS[dimension - 1];
        let s = first.len();
        m[..s].copy_from_slice(first);
        for i in s..BITS {
            m[i] = m[i - s] ^ (m[i - s] << s);
            for k in 1..s {
                if a >> (s - 1 - k) & 1 == 1 {
                    m[i] ^= m[i - k] << k;
                }
            }
        }
    }
    std::array::from_fn(|i| m[i] << (BITS - 1 - i))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy 1.17.1, `scipy.stats.qmc.Sobol(d, scramble=False)`, times 1024, points 1 to 7 and 1000.
    #[test]
    fn points_are_those_of_the_published_table() {
        let sobol = Sobol::new(MOST_DIMENSIONS, vec![0; MOST_DIMENSIONS]);
        let scaled = |k, dimension| sobol.bits(k, dimension) >> (BITS - 10);
        for (dimension, points) in [
            (0, [512, 768, 256, 384, 896, 640, 128, 225]),
            (1, [512, 256, 768, 384, 896, 128, 640, 99]),
            (2, [512, 256, 768, 640, 128, 896, 384, 531]),
            (3, [512, 256, 768, 896, 384, 640, 128, 693]),
            (7, [512, 768, 256, 896, 384, 128, 640, 921]),
            (20, [512, 256, 768, 128, 640, 384, 896, 535]),
            (40, [512, 256, 768, 896, 384, 640, 128, 935]),
            (63, [512, 768, 256, 128, 640, 896, 384, 457]),
        ] {
            let found: Vec<u64> = [1, 2, 3, 4, 5, 6, 7, 1000]
                .map(|k| scaled(k, dimension))
                .to_vec();
            assert_eq!(found, points, "{dimension}");
        }
    }

    #[test]
    fn every_dimension_takes_every_part_once() {
        let shifts: Vec<u64> = (0..MOST_DIMENSIONS as u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        let sobol = Sobol::new(MOST_DIMENSIONS, shifts);
        for dimension in 0..MOST_DIMENSIONS {
            let mut parts: Vec<u64> = (0..1024)
                .map(|k| (sobol.coordinate(k, dimension) * 1024.0) as u64)
                .collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..1024).collect::<Vec<_>>(), "{dimension}");
        }
    }
}
