//! Saddle-point matrices of typical mechanisms for tests and benches, with made-up but sensible numbers.

/// Values by coordinates; equal places add up.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub nv: usize,
    pub nc: usize,
    pub tangent: Vec<(u32, u32)>,
    pub s: Vec<f64>,
    pub jacobian: Vec<(u32, u32)>,
    pub g: Vec<f64>,
}

/// Numbers between -1 and 1, the same ones on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
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

    /// A planar body: mass, mass, inertia; the block is stored full, as a formulation with stiffness would.
    fn planar_body(&mut self, random: &mut Random) -> usize {
        let first = self.nv;
        self.nv += 3;
        let mass = 1.5 + random.next();
        for i in 0..3 {
            for j in 0..3 {
                let value = match (i, j) {
                    (2, 2) => 0.1 * mass,
                    _ if i == j => mass,
                    _ => 0.01 * mass * random.next(),
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

    /// A planar pin between bodies given by their first coordinate, or ground, somewhere on them.
    fn planar_pin(&mut self, a: Option<usize>, b: Option<usize>, random: &mut Random) {
        let mut arm = || [0.5 + 0.4 * random.next(), 0.5 + 0.4 * random.next()];
        self.pin_at(a.map(|a| (a, arm())), b.map(|b| (b, arm())));
    }

    /// A planar pin at the given arms: p + (x, y) + θ (−y, x) is the same for both.
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

    fn spatial_body(&mut self, random: &mut Random) -> usize {
        let first = self.nv;
        self.nv += 6;
        let mass = 1.5 + random.next();
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
                                sign * (0.5 + 0.4 * random.next()),
                            );
                        }
                    }
                }
            }
        }
    }
}

/// `bodies` links in a row, the first pinned to the ground: 3 coordinates and 2 rows each.
pub fn planar_chain(bodies: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random(1));
    let mut last = None;
    for _ in 0..bodies {
        let body = Some(m.planar_body(&mut random));
        m.planar_pin(last, body, &mut random);
        last = body;
    }
    m
}

/// Links with spherical joints: 6 coordinates and 3 rows each.
pub fn spatial_chain(bodies: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random(2));
    let mut last = None;
    for _ in 0..bodies {
        let body = Some(m.spatial_body(&mut random));
        m.spherical(last, body, &mut random);
        last = body;
    }
    m
}

/// `loops` four-bar loops side by side, sharing their cranks: 2 loops are 5 bodies and 7 pins, 29 unknowns.
pub fn four_bars(loops: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random(3));
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
    let (mut m, mut random) = (Sample::default(), Random(4));
    let hub = Some(m.planar_body(&mut random));
    m.planar_pin(None, hub, &mut random);
    for _ in 0..arms {
        let arm = Some(m.planar_body(&mut random));
        m.planar_pin(hub, arm, &mut random);
    }
    m
}

/// A chain whose neighbours are also joined by springs, so that S couples all bodies.
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

/// `bodies` planar bodies in a square net of springs, every fifth pinned to the ground.
pub fn spring_net(side: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random(5));
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

/// Every coordinate coupled with every other, every row acting on all of them: joint coordinates with a few loops.
pub fn full(nv: usize, nc: usize) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random(6));
    (m.nv, m.nc) = (nv, nc);
    for i in 0..nv {
        m.entry(i, i, nv as f64);
        for j in 0..i {
            let value = random.next();
            m.entry(i, j, value);
            m.entry(j, i, value);
        }
    }
    for k in 0..nc {
        for j in 0..nv {
            m.row_entry(k, j, random.next());
        }
    }
    m
}

/// No structure at all: every row touches a few coordinates, S is dominated by its diagonal and `skew` unsymmetric.
pub fn random(nv: usize, nc: usize, skew: f64, seed: u64) -> Sample {
    let (mut m, mut random) = (Sample::default(), Random(seed));
    (m.nv, m.nc) = (nv, nc);
    for i in 0..nv {
        m.entry(i, i, 2.0 + random.next());
        let j = pick(nv, &mut random);
        if i != j {
            let (symmetric, turned) = (0.2 * random.next(), skew * random.next());
            m.entry(i, j, symmetric + turned);
            m.entry(j, i, symmetric - turned);
        }
    }
    for k in 0..nc {
        // An own coordinate keeps the rows independent, the others make them meet.
        m.row_entry(k, k, 2.0 + random.next());
        for _ in 0..3 {
            m.row_entry(k, pick(nv, &mut random), random.next());
        }
    }
    m
}

fn pick(n: usize, random: &mut Random) -> usize {
    (((random.next() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
}
