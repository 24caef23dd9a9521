//! Dual numbers. A force written once over [`Scalar`] gives its value with `f64` and, with [`Dual`], its exact derivatives with respect
//! to the displacements w and velocities v of two bodies and to time:
//!
//! ```text
//!   x + Σ x_q dw + Σ x_v dv + x_t dt,      f(x) → f(x) + f'(x) (…)
//! ```

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A real number, with or without derivatives.
pub trait Scalar:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// Returns a number that depends on time only.
    fn time_dependent(x: f64, rate: f64) -> Self;

    /// Returns the value.
    fn value(&self) -> f64;

    /// Returns a function of this number, from its value and its derivative here.
    fn chain(self, y: f64, slope: f64) -> Self;

    /// Returns a constant.
    #[inline]
    fn constant(x: f64) -> Self {
        Self::time_dependent(x, 0.0)
    }

    /// √x
    #[inline]
    fn sqrt(self) -> Self {
        let root = self.value().sqrt();
        self.chain(root, 0.5 / root)
    }

    /// x·y
    #[inline]
    fn scalar_product(x: &[Self; 3], y: &[Self; 3]) -> Self {
        x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    }

    /// x·c with a constant vector
    #[inline]
    fn combination(x: &[Self; 3], c: &[f64; 3]) -> Self {
        x[0] * c[0] + x[1] * c[1] + x[2] * c[2]
    }

    /// a b − c d
    #[inline]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        *a * *b - *c * *d
    }
}

impl Scalar for f64 {
    #[inline]
    fn time_dependent(x: f64, _rate: f64) -> Self {
        x
    }

    #[inline]
    fn value(&self) -> f64 {
        *self
    }

    #[inline]
    fn chain(self, y: f64, _slope: f64) -> Self {
        y
    }
}

/// A number with its derivatives with respect to the motion of two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Dual<const N: usize> {
    /// Value.
    pub x: f64,
    /// With respect to w.
    pub q: [f64; N],
    /// With respect to v.
    pub v: [f64; N],
    /// With respect to t.
    pub t: f64,
}

impl<const N: usize> Dual<N> {
    /// Returns a x + b y of all derivatives, with value `value`.
    #[inline]
    fn linear_combination(value: f64, a: f64, x: &Self, b: f64, y: &Self) -> Self {
        Self {
            x: value,
            q: std::array::from_fn(|k| a * x.q[k] + b * y.q[k]),
            v: std::array::from_fn(|k| a * x.v[k] + b * y.v[k]),
            t: a * x.t + b * y.t,
        }
    }

    /// Returns the time derivative along a motion with velocities v and accelerations a of the two bodies.
    pub fn rate_along(&self, v: &[f64; N], a: &[f64; N]) -> f64 {
        let mut sum = self.t;
        for k in 0..N {
            sum += self.q[k] * v[k] + self.v[k] * a[k];
        }
        sum
    }
}

impl<const N: usize> Scalar for Dual<N> {
    #[inline]
    fn time_dependent(x: f64, rate: f64) -> Self {
        Self {
            x,
            q: [0.0; N],
            v: [0.0; N],
            t: rate,
        }
    }

    #[inline]
    fn value(&self) -> f64 {
        self.x
    }

    #[inline]
    fn chain(self, y: f64, slope: f64) -> Self {
        Self {
            x: y,
            q: self.q.map(|d| slope * d),
            v: self.v.map(|d| slope * d),
            t: slope * self.t,
        }
    }

    // The products of vectors are one loop over the derivatives and stand once in the library, with the bits of their defaults.

    #[inline(never)]
    fn scalar_product(x: &[Self; 3], y: &[Self; 3]) -> Self {
        let [a, b, c] = [0, 1, 2].map(|i| x[i].x);
        let [d, e, f] = [0, 1, 2].map(|i| y[i].x);
        let sum = |x: [f64; 3], y: [f64; 3]| {
            (d * x[0] + a * y[0]) + (e * x[1] + b * y[1]) + (f * x[2] + c * y[2])
        };
        Self {
            x: a * d + b * e + c * f,
            q: std::array::from_fn(|k| {
                sum([0, 1, 2].map(|i| x[i].q[k]), [0, 1, 2].map(|i| y[i].q[k]))
            }),
            v: std::array::from_fn(|k| {
                sum([0, 1, 2].map(|i| x[i].v[k]), [0, 1, 2].map(|i| y[i].v[k]))
            }),
            t: sum([0, 1, 2].map(|i| x[i].t), [0, 1, 2].map(|i| y[i].t)),
        }
    }

    #[inline(never)]
    fn combination(x: &[Self; 3], c: &[f64; 3]) -> Self {
        let sum = |x: [f64; 3]| c[0] * x[0] + c[1] * x[1] + c[2] * x[2];
        Self {
            x: sum([0, 1, 2].map(|i| x[i].x)),
            q: std::array::from_fn(|k| sum([0, 1, 2].map(|i| x[i].q[k]))),
            v: std::array::from_fn(|k| sum([0, 1, 2].map(|i| x[i].v[k]))),
            t: sum([0, 1, 2].map(|i| x[i].t)),
        }
    }

    #[inline(never)]
    fn difference_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        let sum = |p: f64, q: f64, r: f64, s: f64| (b.x * p + a.x * q) - (d.x * r + c.x * s);
        Self {
            x: a.x * b.x - c.x * d.x,
            q: std::array::from_fn(|k| sum(a.q[k], b.q[k], c.q[k], d.q[k])),
            v: std::array::from_fn(|k| sum(a.v[k], b.v[k], c.v[k], d.v[k])),
            t: sum(a.t, b.t, c.t, d.t),
        }
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(self, y: Self) -> Self {
        Self::linear_combination(self.x + y.x, 1.0, &self, 1.0, &y)
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    #[inline]
    fn sub(self, y: Self) -> Self {
        Self::linear_combination(self.x - y.x, 1.0, &self, -1.0, &y)
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, y: Self) -> Self {
        Self::linear_combination(self.x * y.x, y.x, &self, self.x, &y)
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;
    #[inline]
    fn div(self, y: Self) -> Self {
        let ratio = self.x / y.x;
        Self::linear_combination(ratio, 1.0 / y.x, &self, -ratio / y.x, &y)
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.chain(-self.x, -1.0)
    }
}

impl<const N: usize> Add<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(self, y: f64) -> Self {
        Self {
            x: self.x + y,
            ..self
        }
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, y: f64) -> Self {
        self.chain(self.x * y, y)
    }
}

/// Three numbers.
pub type Vector3Of<T> = [T; 3];

/// Returns a constant vector.
#[inline]
pub fn constant<T: Scalar>(x: [f64; 3]) -> Vector3Of<T> {
    x.map(T::constant)
}

/// x + y
#[inline]
pub fn plus<T: Scalar>(x: &Vector3Of<T>, y: &Vector3Of<T>) -> Vector3Of<T> {
    [0, 1, 2].map(|k| x[k] + y[k])
}

/// x − y
#[inline]
pub fn minus<T: Scalar>(x: &Vector3Of<T>, y: &Vector3Of<T>) -> Vector3Of<T> {
    [0, 1, 2].map(|k| x[k] - y[k])
}

/// a x
#[inline]
pub fn times<T: Scalar>(a: T, x: &Vector3Of<T>) -> Vector3Of<T> {
    x.map(|x| a * x)
}

/// x·y
#[inline]
pub fn dot<T: Scalar>(x: &Vector3Of<T>, y: &Vector3Of<T>) -> T {
    T::scalar_product(x, y)
}

/// x × y
#[inline]
pub fn cross<T: Scalar>(x: &Vector3Of<T>, y: &Vector3Of<T>) -> Vector3Of<T> {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| T::difference_of_products(&x[i], &y[j], &x[j], &y[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_follow_the_rules_of_sums_products_quotients_and_chains() {
        // f(q, v, t) = q² v / (1 + q) − √(v t), at q = 2, v = 3, t = 5
        let (q, v, t) = (2.0_f64, 3.0_f64, 5.0_f64);
        let dq = Dual::<1> {
            x: q,
            q: [1.0],
            v: [0.0],
            t: 0.0,
        };
        let dv = Dual::<1> {
            x: v,
            q: [0.0],
            v: [1.0],
            t: 0.0,
        };
        let dt = Dual::<1>::time_dependent(t, 1.0);
        let f = dq * dq * dv / (dq + 1.0) - (dv * dt).sqrt();
        let root = (v * t).sqrt();
        assert!((f.x - (q * q * v / (1.0 + q) - root)).abs() < 1e-15);
        let by_q = v * (2.0 * q * (1.0 + q) - q * q) / ((1.0 + q) * (1.0 + q));
        assert!((f.q[0] - by_q).abs() < 1e-15);
        assert!((f.v[0] - (q * q / (1.0 + q) - 0.5 * t / root)).abs() < 1e-15);
        assert!((f.t + 0.5 * v / root).abs() < 1e-15);
        let along = f.rate_along(&[0.7], &[-0.2]);
        assert!((along - (0.7 * by_q - 0.2 * f.v[0] + f.t)).abs() < 1e-15);
    }

    #[test]
    fn products_of_vectors_have_the_bits_of_their_sums_of_products() {
        let mut state = 1.0_f64;
        let mut number = || {
            state = (state * 1.7 + 0.3) % 2.1;
            state - 1.0
        };
        let mut dual = || Dual::<6> {
            x: number(),
            q: std::array::from_fn(|_| number()),
            v: std::array::from_fn(|_| number()),
            t: number(),
        };
        let x: Vector3Of<Dual<6>> = std::array::from_fn(|_| dual());
        let y: Vector3Of<Dual<6>> = std::array::from_fn(|_| dual());
        let same = |a: Dual<6>, b: Dual<6>| {
            assert_eq!((a.x, a.q, a.v, a.t), (b.x, b.q, b.v, b.t));
        };
        same(dot(&x, &y), x[0] * y[0] + x[1] * y[1] + x[2] * y[2]);
        let c = [0.3, -0.7, 1.1];
        same(
            Dual::combination(&x, &c),
            x[0] * c[0] + x[1] * c[1] + x[2] * c[2],
        );
        let product = cross(&x, &y);
        same(product[0], x[1] * y[2] - x[2] * y[1]);
        same(product[1], x[2] * y[0] - x[0] * y[2]);
        same(product[2], x[0] * y[1] - x[1] * y[0]);
    }

    #[test]
    fn cross_products_are_right_handed() {
        assert_eq!(cross(&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
        assert_eq!(
            dot(
                &plus(&[1.0, 2.0, 3.0], &[1.0; 3]),
                &minus(&[1.0; 3], &times(2.0, &[1.0; 3]))
            ),
            -9.0
        );
    }
}
