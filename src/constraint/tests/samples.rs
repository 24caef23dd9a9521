//! Saddle-point matrices of typical mechanisms with plausible numbers, for tests and benches.

use super::Random;

/// Entries of S and G as (row, column) with their values; values of repeated entries are added.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub nv: usize,
    pub nc: usize,
    pub tangent: Vec<(u32, u32)>,
    pub s: Vec<f64>,
    pub jacobian: Vec<(u32, u32)>,
    pub g: Vec<f64>,
}

impl Sample {
    fn entry(&mut self, i: usize, j: usize, value: f64) {
        self.tangent.push((i as u32, j as u32));
        self.s.push(value);
    }

    fn row_entry(&mut self, k: usize, j: usize, value: f64) {
        self.jacobian.push((k as u32, j as u32));
        self.g.push(value);
    }

    /// Adds a planar body: mass, mass, inertia; the block is full, as with stiffness. Returns its first coordinate.
    fn planar_body(&mut self, random: &mut Random) -> usize {
        let first = self.nv;
        self.nv += 3;
        let mass = 1.5 + random.signed();
        for i in 0..3 {
            for j in 0..3 {
                let value = match (i, j) {
                    (2, 2) => 0.1 * mass,
                    _ if i == j => mass,
                    _ => 0.01 * mass * random.signed(),
                };
                self.entry(first + i, first + j, value);
            }
        }
        // Symmetric, as mass matrices are.
        let start = self.s.len() - 9;
        for i in 0..3 {
            for j in 0..i {
                self.s[start + 3 * i + j] = self.s[start + 3 * j + i];
            }
        }
        first
    }

    /// Adds a planar revolute joint at random points of two bodies, given by their first coordinate, or of the ground.
    fn planar_pin(&mut self, a: Option<usize>, b: Option<usize>, random: &mut Random) {
        let mut arm = || [0.5 + 0.4 * random.signed(), 0.5 + 0.4 * random.signed()];
        self.pin_at(a.map(|a| (a, arm())), b.map(|b| (b, arm())));
    }

    /// Adds a planar revolute joint at the given points of the bodies: p + (x, y) + θ (−y, x) is the same for both.
    fn pin_at(&mut self, a: Option<(usize, [f64; 2])>, b: Option<(usize, [f64; 2])>) {
        for axis in 0..2 {
            let row = self.nc;
            self.nc += 1;
            for (body, sign) in [(a, 1.0), (b, -1.0)] {
                if let Some((first, arm)) = body {
                    let turn = [-arm[1], arm[0]][axis];
                    self.row_entry(row, first + axis, sign);
                    self.row_entry(row, first + 2, sign * turn);
                }
            }
        }
    }

    /// Adds a spatial body. Returns its first coordinate.
    fn spatial_body(&mut self, random: &mut Random) -> usize {
        let first = self.nv;
        self.nv += 6;
        let mass = 1.5 + random.signed();
        for i in 0..3 {
            self.entry(first + i, first + i, mass);
        }
        for i in 0..3 {
            for j in 0..3 {
                let value = if i == j { 0.1 + 0.02 * i as f64 } else { 0.01 };
                self.entry(first + 3 + i, first + 3 + j, value * mass);
            }
        }
        first
    }

    /// Adds a spherical joint at random points of two bodies or of the ground.
    fn spherical(&mut self, a: Option<usize>, b: Option<usize>, random: &mut Random) {
        for axis in 0..3 {
            let row = self.nc;
            self.nc += 1;
            for (body, sign) in [(a, 1.0), (b, -1.0)] {
                if let Some(first) = body {
                    self.row_entry(row, first + axis, sign);
                    for turn in 0..3 {
                        if turn != axis {
                            self.row_entry(
                                row,
                                first + 3 + turn,
                                sign * (0.5 + 0.4 * random.signed()),
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Chain of `bodies` planar links, the first joined to the ground: 3 coordinates and 2 constraints each.
pub fn planar_chain(bodies: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random::new(1));
    let mut last = None;
    for _ in 0..bodies {
        let body = Some(m.planar_body(&mut random));
        m.planar_pin(last, body, &mut random);
        last = body;
    }
    m
}

/// Chain of links with spherical joints: 6 coordinates and 3 constraints each.
pub fn spatial_chain(bodies: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random::new(2));
    let mut last = None;
    for _ in 0..bodies {
        let body = Some(m.spatial_body(&mut random));
        m.spherical(last, body, &mut random);
        last = body;
    }
    m
}

/// `loops` four-bar loops that share their cranks: 2 loops are 5 bodies and 7 revolute joints, 29 unknowns.
pub fn four_bars(loops: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random::new(3));
    // Half of a crank and half of a coupler.
    let (up, along) = ([0.3, 0.4], [0.5, 0.05]);
    let back = |arm: [f64; 2]| [-arm[0], -arm[1]];
    let mut crank = m.planar_body(&mut random);
    m.pin_at(None, Some((crank, back(up))));
    for _ in 0..loops {
        let coupler = m.planar_body(&mut random);
        let next = m.planar_body(&mut random);
        m.pin_at(Some((crank, up)), Some((coupler, back(along))));
        m.pin_at(Some((coupler, along)), Some((next, up)));
        m.pin_at(None, Some((next, back(up))));
        crank = next;
    }
    m
}

/// A body on the ground that carries `arms` others.
pub fn star(arms: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random::new(4));
    let hub = Some(m.planar_body(&mut random));
    m.planar_pin(None, hub, &mut random);
    for _ in 0..arms {
        let arm = Some(m.planar_body(&mut random));
        m.planar_pin(hub, arm, &mut random);
    }
    m
}

/// A chain with springs between neighbours, so that S couples all bodies.
pub fn sprung_chain(bodies: usize) -> Sample {
    let mut m = planar_chain(bodies);
    for b in 1..bodies {
        let (i, j) = (3 * b - 1, 3 * b + 2);
        let k = 0.3;
        m.entry(i, i, k);
        m.entry(j, j, k);
        m.entry(i, j, -k);
        m.entry(j, i, -k);
    }
    m
}

/// `side` x `side` planar bodies in a square net of springs, every fifth joined to the ground.
pub fn spring_net(side: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random::new(5));
    for b in 0..side * side {
        let body = Some(m.planar_body(&mut random));
        if b % 5 == 0 {
            m.planar_pin(None, body, &mut random);
        }
    }
    for row in 0..side {
        for column in 0..side {
            let b = row * side + column;
            for (inside, other) in [(column + 1 < side, b + 1), (row + 1 < side, b + side)] {
                if inside {
                    for axis in 0..2 {
                        let (i, j) = (3 * b + axis, 3 * other + axis);
                        m.entry(i, i, 0.5);
                        m.entry(j, j, 0.5);
                        m.entry(i, j, -0.5);
                        m.entry(j, i, -0.5);
                    }
                }
            }
        }
    }
    m
}

/// Full S and G, as in joint coordinates with a few loops.
pub fn full(nv: usize, nc: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random::new(6));
    (m.nv, m.nc) = (nv, nc);
    for i in 0..nv {
        m.entry(i, i, nv as f64);
        for j in 0..i {
            let value = random.signed();
            m.entry(i, j, value);
            m.entry(j, i, value);
        }
    }
    for k in 0..nc {
        for j in 0..nv {
            m.row_entry(k, j, random.signed());
        }
    }
    m
}

/// Random structure: every constraint acts on a few coordinates, S is dominated by its diagonal and `skew` unsymmetric.
pub fn random(nv: usize, nc: usize, skew: f64, seed: u64) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random::new(seed));
    (m.nv, m.nc) = (nv, nc);
    for i in 0..nv {
        m.entry(i, i, 2.0 + random.signed());
        let j = pick(nv, &mut random);
        if i != j {
            let (symmetric, turned) = (0.2 * random.signed(), skew * random.signed());
            m.entry(i, j, symmetric + turned);
            m.entry(j, i, symmetric - turned);
        }
    }
    for k in 0..nc {
        // A coordinate of its own keeps each constraint independent, the others couple them.
        m.row_entry(k, k, 2.0 + random.signed());
        for _ in 0..3 {
            m.row_entry(k, pick(nv, &mut random), random.signed());
        }
    }
    m
}

fn pick(n: usize, random: &mut Random) -> usize {
    (((random.signed() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
}
