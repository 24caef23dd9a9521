//! The cross-section of a beam: stiffness and inertia, given or from its outline and material.
//!
//! Order of the stiffness: EA, GA2, GA3, GJ, EI2, EI3 along and about the section axes 1, 2, 3. In the plane EA, GA2, EI3.

use crate::linalg::elementary::tanh;
use nalgebra::{DMatrix, Matrix6};

/// Rows of the stiffness that exist in the plane.
const PLANAR: [usize; 3] = [0, 1, 5];

/// Asymmetry of a stiffness matrix, relative to its diagonal, that rounded digits explain.
const ROUNDED: f64 = 1e-6;

/// Stiffness and inertia of a cross-section.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamSection {
    /// N, N m, N m²: symmetric, by rows; EA, GA2, GA3, GJ, EI2, EI3 in the diagonal.
    pub stiffness: [[f64; 6]; 6],
    /// kg/m
    pub mass_per_length: f64,
    /// About the section axes 1, 2, 3 (kg m); two dimensions use the third.
    pub inertia_per_length: [f64; 3],
    /// Outline, if it is known: for pictures.
    pub outline: Option<SectionOutline>,
}

/// Outline of a cross-section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SectionOutline {
    /// Sizes along section axes 2 and 3 (m).
    Rectangle([f64; 2]),
    /// Diameter (m).
    Circle(f64),
    /// Outer diameter and thickness (m).
    Tube([f64; 2]),
}

/// A homogeneous isotropic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) struct SectionMaterial {
    /// E (Pa)
    pub young: f64,
    /// G (Pa)
    pub shear: f64,
    /// kg/m³
    pub density: f64,
    /// Shear area over area, if it is given.
    pub shear_factor: Option<f64>,
}

/// The spatial matrix of a planar stiffness.
pub(in crate::model) fn planar_stiffness(stiffness: [[f64; 3]; 3]) -> [[f64; 6]; 6] {
    let mut full = [[0.0; 6]; 6];
    for (i, row) in PLANAR.iter().enumerate() {
        for (j, column) in PLANAR.iter().enumerate() {
            full[*row][*column] = stiffness[i][j];
        }
    }
    full
}

impl BeamSection {
    /// The outline that pictures show. Of a section that is given by its stiffness the rectangle with the same ratios of bending and
    /// axial stiffness, EI = EA h² / 12; in the plane it is a square.
    pub fn drawn_outline(&self) -> SectionOutline {
        let side = |bending: f64| f64::sqrt(12.0 * bending / self.stiffness[0][0]);
        let [by_2, by_3] = [self.stiffness[4][4], self.stiffness[5][5]];
        let along_2 = side(by_3);
        let along_3 = if by_2 > 0.0 { side(by_2) } else { along_2 };
        (self.outline).unwrap_or(SectionOutline::Rectangle([along_2, along_3]))
    }

    /// The section with this outline, of this material.
    pub(in crate::model) fn new(outline: SectionOutline, material: &SectionMaterial) -> Self {
        let SectionMaterial {
            young,
            shear,
            density,
            shear_factor,
        } = *material;
        let poisson = 0.5 * young / shear - 1.0;
        let area = outline.area();
        let [i2, i3] = outline.second_moments();
        let shear_area = shear_factor.unwrap_or_else(|| outline.shear_factor(poisson)) * area;
        let diagonal = [
            young * area,
            shear * shear_area,
            shear * shear_area,
            shear * outline.torsion_constant(),
            young * i2,
            young * i3,
        ];
        Self {
            stiffness: Matrix6::from_diagonal(&diagonal.into()).transpose().into(),
            mass_per_length: density * area,
            inertia_per_length: [i2 + i3, i2, i3].map(|i| density * i),
            outline: Some(outline),
        }
    }

    /// The inertia of a homogeneous section with this stiffness: J = m EI / EA.
    pub(in crate::model) fn homogeneous_inertia(stiffness: &[[f64; 6]; 6], mass: f64) -> [f64; 3] {
        let [i2, i3] = [4, 5].map(|k| mass * stiffness[k][k] / stiffness[0][0]);
        [i2 + i3, i2, i3]
    }

    /// What is wrong with the stiffness, if anything: it must be symmetric and positive definite.
    pub(in crate::model) fn stiffness_defect(&self, dimension: usize) -> Option<String> {
        let rows: &[usize] = if dimension == 2 {
            &PLANAR
        } else {
            &[0, 1, 2, 3, 4, 5]
        };
        let k = |i: usize, j: usize| self.stiffness[rows[i]][rows[j]];
        let n = rows.len();
        for i in 0..n {
            if !(k(i, i) > 0.0 && k(i, i).is_finite()) {
                return Some(format!(
                    "a finite number > 0 in row {} of its diagonal",
                    i + 1
                ));
            }
        }
        // Scaled to a unit diagonal: EA and EI differ by many orders of magnitude.
        let scaled = |i: usize, j: usize| k(i, j) / (k(i, i) * k(j, j)).sqrt();
        for i in 0..n {
            for j in 0..i {
                if !((scaled(i, j) - scaled(j, i)).abs() <= ROUNDED) {
                    return Some(format!(
                        "a symmetric matrix: rows {} and {} differ",
                        j + 1,
                        i + 1
                    ));
                }
            }
        }
        let matrix = DMatrix::from_fn(n, n, |i, j| 0.5 * (scaled(i, j) + scaled(j, i)));
        match matrix.cholesky() {
            Some(_) => None,
            None => Some("a positive definite matrix: every deformation needs energy".to_owned()),
        }
    }
}

impl SectionOutline {
    /// m²
    fn area(self) -> f64 {
        use std::f64::consts::FRAC_PI_4;
        match self {
            Self::Rectangle([b, h]) => b * h,
            Self::Circle(d) => FRAC_PI_4 * d * d,
            Self::Tube([d, t]) => FRAC_PI_4 * 4.0 * t * (d - t),
        }
    }

    /// Second moments of area about section axes 2 and 3 (m⁴).
    fn second_moments(self) -> [f64; 2] {
        use std::f64::consts::PI;
        match self {
            Self::Rectangle([b, h]) => [b * h.powi(3) / 12.0, h * b.powi(3) / 12.0],
            Self::Circle(d) => [PI * d.powi(4) / 64.0; 2],
            Self::Tube([d, t]) => [PI * (d.powi(4) - (d - 2.0 * t).powi(4)) / 64.0; 2],
        }
    }

    /// Saint-Venant's torsion constant (m⁴).
    fn torsion_constant(self) -> f64 {
        use std::f64::consts::{FRAC_PI_2, PI};
        let Self::Rectangle(sides) = self else {
            return self.second_moments().iter().sum();
        };
        let (a, b) = (sides[0].max(sides[1]), sides[0].min(sides[1]));
        // Terms fall like n⁻⁵: the first left out is below 1e-13.
        let sum: f64 = (0..200)
            .map(|k| f64::from(2 * k + 1))
            .map(|n| tanh(n * FRAC_PI_2 * a / b) / n.powi(5))
            .sum();
        a * b.powi(3) / 3.0 * (1.0 - 192.0 / PI.powi(5) * b / a * sum)
    }

    /// Shear area over area (G. R. Cowper, J. Appl. Mech. 33, 1966, 335-340).
    fn shear_factor(self, poisson: f64) -> f64 {
        let one = 1.0 + poisson;
        match self {
            Self::Rectangle(_) => 10.0 * one / (12.0 + 11.0 * poisson),
            Self::Circle(_) => 6.0 * one / (7.0 + 6.0 * poisson),
            Self::Tube([d, t]) => {
                let m = (d - 2.0 * t) / d;
                let square = (1.0 + m * m).powi(2);
                6.0 * one * square
                    / ((7.0 + 6.0 * poisson) * square + (20.0 + 12.0 * poisson) * m * m)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{a} {b}");
    }

    #[test]
    fn a_section_given_by_its_stiffness_is_drawn_as_the_rectangle_with_the_same_ratios() {
        let (b, h) = (0.02_f64, 0.05_f64);
        let mut section = BeamSection {
            stiffness: [[0.0; 6]; 6],
            mass_per_length: 1.0,
            inertia_per_length: [0.0; 3],
            outline: None,
        };
        // Of E = 1: axis 2 has the bending over the size along 3.
        for (k, value) in [
            (0, b * h),
            (4, b * h.powi(3) / 12.0),
            (5, h * b.powi(3) / 12.0),
        ] {
            section.stiffness[k][k] = value;
        }
        let SectionOutline::Rectangle(drawn) = section.drawn_outline() else {
            panic!("no rectangle");
        };
        assert!((drawn[0] - b).abs() < 1e-15 && (drawn[1] - h).abs() < 1e-15);
    }

    #[test]
    fn the_square_of_the_bend_and_the_bars_of_the_four_bar_have_their_known_stiffness() {
        let material = SectionMaterial {
            young: 1e7,
            shear: 5e6,
            density: 1.0,
            shear_factor: None,
        };
        let unit = BeamSection::new(SectionOutline::Rectangle([1.0, 1.0]), &material);
        let k = |i: usize| unit.stiffness[i][i];
        close(k(0), 1e7, 1e-15);
        close(k(1), 25e6 / 6.0, 1e-15);
        close(k(4), 1e7 / 12.0, 1e-15);
        // Torsion of a square: 0.140577 a⁴ (Timoshenko & Goodier).
        close(k(3), 5e6 * 0.140577, 2e-6);
        // Steel bar of 16 x 16 mm; the published figures have three to four digits, and another shear factor.
        let steel = SectionMaterial {
            young: 207e9,
            shear: 207e9 / 2.6,
            density: 7800.0,
            shear_factor: None,
        };
        let bar = BeamSection::new(SectionOutline::Rectangle([0.016; 2]), &steel);
        close(bar.stiffness[0][0], 52.99e6, 1e-3);
        close(bar.stiffness[3][3], 733.5, 3e-2);
        close(bar.stiffness[5][5], 1131.0, 1e-3);
        close(bar.mass_per_length, 1.997, 1e-3);
        close(bar.inertia_per_length[0], 85.2e-6, 1e-3);
    }

    #[test]
    fn axes_two_and_three_of_a_rectangle_are_not_confused() {
        let flat = SectionOutline::Rectangle([0.1, 0.01]);
        let [about_two, about_three] = flat.second_moments();
        close(about_two, 0.1 * 1e-6 / 12.0, 1e-12);
        close(about_three, 0.01 * 1e-3 / 12.0, 1e-12);
        // A thin strip: a b³/3 (1 − 0.63 b/a).
        close(
            flat.torsion_constant(),
            0.1 * 1e-6 / 3.0 * (1.0 - 0.063),
            1e-3,
        );
    }

    #[test]
    fn a_tube_without_a_hole_is_a_circle_and_a_thin_one_has_half_its_area_in_shear() {
        let (full, circle) = (
            SectionOutline::Tube([0.2, 0.1]),
            SectionOutline::Circle(0.2),
        );
        close(full.area(), circle.area(), 1e-14);
        close(full.torsion_constant(), circle.torsion_constant(), 1e-14);
        close(full.shear_factor(0.3), circle.shear_factor(0.3), 1e-14);
        close(
            SectionOutline::Tube([1.0, 1e-6]).shear_factor(0.0),
            0.5,
            1e-5,
        );
    }

    #[test]
    fn a_stiffness_that_is_not_one_is_refused() {
        let mut section = BeamSection {
            stiffness: planar_stiffness([[1e7, 0.0, 0.0], [0.0, 1e6, 0.0], [0.0, 0.0, 1.0]]),
            mass_per_length: 1.0,
            inertia_per_length: [1.0; 3],
            outline: None,
        };
        assert_eq!(section.stiffness_defect(2), None);
        assert!(section.stiffness_defect(3).is_some());
        section.stiffness[0][5] = 1e3;
        assert!(section.stiffness_defect(2).unwrap().contains("symmetric"));
        section.stiffness[5][0] = 1e3;
        assert_eq!(section.stiffness_defect(2), None);
        (section.stiffness[0][5], section.stiffness[5][0]) = (1e4, 1e4);
        assert!(
            section
                .stiffness_defect(2)
                .unwrap()
                .contains("positive definite")
        );
    }
}
