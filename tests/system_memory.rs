//! A large system takes little more memory than its matrices, counted by the allocator.

#[path = "common/truss.rs"]
#[allow(dead_code)]
mod truss;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use biela::component::Instance;
use truss::Truss;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: everything is passed on to the system's allocator; counting touches two numbers only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may exist together while they are copied.
        grow(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_mast_of_100_000_coordinates_takes_less_than_four_times_its_matrices() {
    const BAYS: usize = 11_112;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mast_memory");
    let truss = Truss::new(BAYS);
    assert!(truss.mass.rows() >= 100_000);
    let matrices = truss.bytes();
    let path = truss.write(&folder, "step = 1e-3");
    drop(truss);

    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let mut instance = Instance::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    let read = PEAK.load(Relaxed) - before;
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    instance.step(0.0, 5e-3).unwrap();
    let (peak, now) = (PEAK.load(Relaxed) - before, NOW.load(Relaxed) - before);
    let times = |bytes: usize| bytes as f64 / matrices as f64;
    println!(
        "matrices {:.1} MB; peak of reading and set-up {:.2} times, of all {:.2} times, at the end {:.2} times",
        matrices as f64 / 1e6,
        times(read),
        times(peak),
        times(now)
    );
    // A bar stretches by F L / (E A) within the first milliseconds: the top has moved, and in the direction of the load.
    let mut top = [0.0];
    instance
        .get_real(&[instance.find("top").unwrap()], &mut top)
        .unwrap();
    assert!(top[0] > 0.0 && top[0] < 1.0, "{top:?}");
    let statistics = instance.statistics();
    assert_eq!(statistics.steps, 5);
    assert!(statistics.factorizations <= 2, "{statistics:?}");
    let _ = std::fs::remove_dir_all(&folder);
    assert!(times(peak) < 4.0, "{:.2} times the matrices", times(peak));
}
