//! Rigidity constraints. The directions of the basis of a body have constant lengths and angles,
//!
//! ```text
//!   Φ = c (d_i · d_j − D_i · D_j),      γ = 2 c ḋ_i · ḋ_j,      c makes it a length, or a number between vectors
//! ```
//!
//! and an item outside the basis is a linear function of the basis: Φ = e − Σ c_k e_k.

/// Position of an item: its first coordinate, or a fixed position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NaturalPoint {
    /// First coordinate.
    At(u32),
    /// On the ground.
    Fixed([f64; 3]),
}

impl NaturalPoint {
    #[inline]
    fn value(&self, x: &[f64], c: usize) -> f64 {
        match self {
            Self::At(first) => x[*first as usize + c],
            Self::Fixed(at) => at[c],
        }
    }

    #[inline]
    fn rate(&self, v: &[f64], c: usize) -> f64 {
        match self {
            Self::At(first) => v[*first as usize + c],
            Self::Fixed(_) => 0.0,
        }
    }
}

/// A vector, or the difference of two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NaturalDirection {
    /// The vector, or the end point.
    pub to: NaturalPoint,
    /// The start point.
    pub from: Option<NaturalPoint>,
}

impl NaturalDirection {
    #[inline]
    fn value(&self, x: &[f64], c: usize) -> f64 {
        self.to.value(x, c) - self.from.map_or(0.0, |from| from.value(x, c))
    }

    #[inline]
    fn rate(&self, v: &[f64], c: usize) -> f64 {
        self.to.rate(v, c) - self.from.map_or(0.0, |from| from.rate(v, c))
    }

    /// Returns its first coordinates with their signs.
    pub fn coordinates(&self) -> impl Iterator<Item = (u32, f64)> {
        let live = |place: NaturalPoint, sign: f64| match place {
            NaturalPoint::At(first) => Some((first, sign)),
            NaturalPoint::Fixed(_) => None,
        };
        let from = self.from.and_then(|from| live(from, -1.0));
        live(self.to, 1.0).into_iter().chain(from)
    }

    /// Whether it is constant.
    pub fn is_fixed(&self) -> bool {
        self.coordinates().next().is_none()
    }
}

/// Φ = factor (d₀ · d₁ − value)
#[derive(Clone, Debug)]
pub struct ScalarProduct {
    /// d₀, d₁
    pub directions: [NaturalDirection; 2],
    /// D₀ · D₁
    pub value: f64,
    /// c
    pub factor: f64,
}

/// Φ = Σ c_k x_k − value
#[derive(Clone, Debug)]
pub struct Collinearity {
    /// Coordinates and coefficients.
    pub terms: Vec<(u32, f64)>,
    /// Constant term.
    pub value: f64,
}

/// A rigidity equation.
#[derive(Clone, Debug)]
pub enum RigidityEquation {
    /// A length or an angle.
    Product(ScalarProduct),
    /// One component of an item.
    Line(Collinearity),
}

/// A rigidity equation with its body.
#[derive(Clone, Debug)]
pub struct RigidityConstraints {
    /// The equation.
    pub row: RigidityEquation,
    /// The body.
    pub body: usize,
    /// Whether its residual is a length rather than a number.
    pub is_length: bool,
}

impl RigidityEquation {
    /// Passes the columns of its entries of G to `push`.
    pub fn pattern(&self, dimension: usize, push: &mut dyn FnMut(u32)) {
        match self {
            Self::Line(line) => line.terms.iter().for_each(|(k, _)| push(*k)),
            Self::Product(product) => {
                for direction in &product.directions {
                    for (first, _) in direction.coordinates() {
                        (0..dimension as u32).for_each(|c| push(first + c));
                    }
                }
            }
        }
    }

    /// Φ
    pub fn value(&self, dimension: usize, x: &[f64]) -> f64 {
        match self {
            Self::Line(line) => {
                let sum: f64 = line.terms.iter().map(|(k, c)| c * x[*k as usize]).sum();
                sum - line.value
            }
            Self::Product(product) => {
                let [a, b] = &product.directions;
                let dot: f64 = (0..dimension).map(|c| a.value(x, c) * b.value(x, c)).sum();
                product.factor * (dot - product.value)
            }
        }
    }

    /// Writes the entries of G in the order of `pattern`; returns their number.
    pub fn jacobian(&self, dimension: usize, x: &[f64], out: &mut [f64]) -> usize {
        let mut at = 0;
        match self {
            Self::Line(line) => {
                for (_, c) in &line.terms {
                    out[at] = *c;
                    at += 1;
                }
            }
            Self::Product(product) => {
                for side in 0..2 {
                    let other = &product.directions[1 - side];
                    for (_, sign) in product.directions[side].coordinates() {
                        for c in 0..dimension {
                            out[at] = product.factor * sign * other.value(x, c);
                            at += 1;
                        }
                    }
                }
            }
        }
        at
    }

    /// γ
    pub fn convective(&self, dimension: usize, v: &[f64]) -> f64 {
        match self {
            Self::Line(_) => 0.0,
            Self::Product(product) => {
                let [a, b] = &product.directions;
                let dot: f64 = (0..dimension).map(|c| a.rate(v, c) * b.rate(v, c)).sum();
                2.0 * product.factor * dot
            }
        }
    }

    /// Passes the constant entries of ∂(Gᵀ)/∂x to `push`: row, column, value.
    pub fn bend(&self, dimension: usize, push: &mut dyn FnMut(u32, u32, f64)) {
        let Self::Product(product) = self else {
            return;
        };
        let [a, b] = &product.directions;
        for (i, sign_i) in a.coordinates() {
            for (j, sign_j) in b.coordinates() {
                for c in 0..dimension as u32 {
                    let value = product.factor * sign_i * sign_j;
                    push(i + c, j + c, value);
                    push(j + c, i + c, value);
                }
            }
        }
    }
}
