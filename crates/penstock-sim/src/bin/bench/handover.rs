//! How long a cache line takes from one core to another. Cores that share no cache hand lines over several
//! times as slowly as cores that do, and runs on several threads hand over all that crosses. On a virtual
//! machine the host decides which cores it gets, and decides anew while a benchmark runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// How often the line goes there and back before a look at the clock (our choice: about 0.3 ms, where cores
/// share no cache).
const ROUNDS: u64 = 1_000;

/// How many times are measured (our choice: together about 10 ms, where cores share no cache). Threads may
/// begin on one core, which takes a thousand times as long; the median does not show that.
const TIMES: u64 = 31;

/// A thread that has looked so often lets others run: its partner may wait for the same core (our choice:
/// some 30 us, far longer than a handover between cores).
const LOOKS: u32 = 10_000;

/// A number with a cache line of its own, and the neighbour that some processors load along with it.
#[repr(align(128))]
struct Line(AtomicU64);

impl Line {
    fn wait_for(&self, value: u64) {
        let mut looks = 0;
        while self.0.load(Ordering::Acquire) != value {
            looks += 1;
            if looks % LOOKS == 0 {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// How long a cache line takes from one thread to another (ns): the median of some times.
pub(crate) fn handover_ns() -> f64 {
    let line = &Line(AtomicU64::new(0));
    let mut times: Vec<f64> = thread::scope(|scope| {
        scope.spawn(move || {
            for round in 0..TIMES * ROUNDS {
                line.wait_for(2 * round + 1);
                line.0.store(2 * round + 2, Ordering::Release);
            }
        });
        let handovers = |time| {
            let start = Instant::now();
            for round in time * ROUNDS..(time + 1) * ROUNDS {
                line.0.store(2 * round + 1, Ordering::Release);
                line.wait_for(2 * round + 2);
            }
            start.elapsed().as_secs_f64() * 1e9 / (2 * ROUNDS) as f64
        };
        (0..TIMES).map(handovers).collect()
    });
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
