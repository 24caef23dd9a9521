use biela::formulation::*;
use biela::integrator::*;
use biela::model::{Solver, Corrector};

/// point masses in natural coordinates, chain of n, unit lengths
struct Chain(usize);
impl System for Chain {
    fn size(&self) -> Size { Size { nq: 2*self.0, nv: 2*self.0, nc: self.0, ..Size::default() } }
    fn character(&self) -> Character { Character::default() }
    fn pattern(&self) -> Pattern {
        let n = self.0 as u32;
        let mut tangent = vec![]; let mut jacobian = vec![];
        for i in 0..2*n { tangent.push((i,i)); }
        for k in 0..n { for d in 0..2 { 
            jacobian.push((k, 2*k+d)); tangent.push((2*k+d,2*k+d));
            if k > 0 { jacobian.push((k, 2*k-2+d)); tangent.push((2*k+d,2*k-2+d)); tangent.push((2*k-2+d,2*k+d)); tangent.push((2*k-2+d,2*k-2+d)); } } }
        Pattern { tangent, jacobian }
    }
    fn mass_times(&self, _: &Context, _q: &[f64], a: &[f64], out: &mut [f64]) { out.copy_from_slice(a) }
    fn force(&self, _: &Context, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated { for i in 0..self.0 { out[2*i]=0.0; out[2*i+1]=-9.81; } Ok(()) }
    fn tangent(&self, _: &Context, _q: &[f64], _v: &[f64], _a: &[f64], l: &[f64], w: &Weights, out: &mut [f64]) -> Evaluated {
        let n = self.0; let mut j = 0;
        for _ in 0..2*n { out[j]=w.mass; j+=1; }
        for k in 0..n { for _ in 0..2 { out[j]=w.stiffness*l[k]; j+=1; if k>0 { out[j]=-w.stiffness*l[k]; out[j+1]=out[j]; out[j+2]=w.stiffness*l[k]; j+=3; } } }
        Ok(())
    }
    fn constraint(&self, _: &Context, q: &[f64], phi: &mut [f64]) { for k in 0..self.0 { let (x,y)= if k==0 {(q[0],q[1])} else {(q[2*k]-q[2*k-2], q[2*k+1]-q[2*k-1])}; phi[k]=0.5*(x*x+y*y-1.0); } }
    fn jacobian(&self, _: &Context, q: &[f64], out: &mut [f64]) { let mut j=0; for k in 0..self.0 { for d in 0..2 { let e = if k==0 {q[d]} else {q[2*k+d]-q[2*k-2+d]}; out[j]=e; j+=1; if k>0 { out[j]=-e; j+=1; } } } }
    fn convective(&self, _: &Context, _q: &[f64], v: &[f64], g: &mut [f64]) { for k in 0..self.0 { let (x,y)= if k==0 {(v[0],v[1])} else {(v[2*k]-v[2*k-2], v[2*k+1]-v[2*k-1])}; g[k]=x*x+y*y; } }
    fn energy(&self, _: &Context, q: &[f64], v: &[f64]) -> Energy { Energy{ kinetic: 0.5*v.iter().map(|v|v*v).sum::<f64>(), potential: (0..self.0).map(|i| 9.81*q[2*i+1]).sum() } }
}

#[test]
fn scratch() {
    let n = 2;
    let sys = Chain(n);
    let (th1, th2) = (-0.48297153425175443f64, -1.3240487123023625f64);
    for corr in [Corrector::Off, Corrector::Auto] { for tol in [1e-3,1e-4,1e-5,1e-6,1e-7] {
        let set = Solver { tolerance: tol, corrector: corr, alpha: 0.1, ..Solver::default() };
        let mut it = Integrator::new(&sys, &set).unwrap();
        let env = Environment { signals: &(), parameters: &[] };
        let mut s = State::default();
        let r = it.start(&sys, &env, 0.0, &[1.0,0.0,2.0,0.0], &[0.0;4], &mut s).unwrap();
        if tol==1e-3 { println!("{r:?} acc {:?} lam {:?} h {}", s.acc, s.lambda, s.next_h); }
        while s.t < 2.0 { it.advance(&sys, &env, &mut s, 2.0).unwrap(); }
        let x1 = th1.sin(); let y1=-th1.cos(); let x2=x1+th2.sin(); let y2=y1-th2.cos();
        let e = ((s.q[0]-x1).powi(2)+(s.q[1]-y1).powi(2)+(s.q[2]-x2).powi(2)+(s.q[3]-y2).powi(2)).sqrt();
        println!("{corr:?} {tol:e} steps {} rej {} nf {} it {} res {} fac {} sol {} corr {} err {e:.2e} eps {:?}", s.statistics.steps, s.statistics.rejected, s.statistics.newton_failures, s.statistics.newton_iterations, s.statistics.residuals, s.statistics.factorizations, s.statistics.solves, s.statistics.corrected, s.statistics.worst_error);
    } }
}
