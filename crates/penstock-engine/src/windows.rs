//! Parts of a simulation that run beside each other on several threads, window by window.
//!
//! All parts run to the end of a window. Then the caller's thread alone looks at all of them, hands over
//! what has crossed, and says when the next window ends. Which thread runs which part makes no
//! difference, so the number of threads makes none.
//!
//! A thread that waits looks a few times and then lets others run, so more threads than cores only take
//! turns.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use penstock_units::Time;

/// How often a thread looks before it lets others run: about 2 us (our choice; windows that are well
/// balanced end within that).
const LOOKS: u32 = 200;

/// Where threads meet.
struct Gate {
    /// How many windows have been opened.
    opened: AtomicU64,
    /// The end of the window that was opened last (ps).
    end: AtomicU64,
    /// Whether no window will follow.
    is_closed: AtomicBool,
    /// How many threads besides the caller's are in the window.
    running: AtomicUsize,
    /// Whether a thread has panicked.
    has_failed: AtomicBool,
}

impl Gate {
    fn new() -> Self {
        Gate {
            opened: AtomicU64::new(0),
            end: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            running: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
        }
    }

    fn open(&self, end: Time, threads: usize) {
        self.end.store(end.as_ps(), Ordering::Relaxed);
        self.running.store(threads, Ordering::Relaxed);
        self.opened.fetch_add(1, Ordering::Release);
    }

    /// Waits for the window after number `seen`; none when no window follows.
    fn enter(&self, seen: u64) -> Option<Time> {
        wait(|| self.opened.load(Ordering::Acquire) != seen);
        let is_closed = self.is_closed.load(Ordering::Relaxed);
        (!is_closed).then(|| Time::from_ps(self.end.load(Ordering::Relaxed)))
    }
}

/// Leaves the window when it is dropped, also when the thread panics.
struct Visit<'a>(&'a Gate);

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.has_failed.store(true, Ordering::Relaxed);
        }
        self.0.running.fetch_sub(1, Ordering::Release);
    }
}

/// Closes the gate when it is dropped, also when the caller's thread panics.
struct Host<'a>(&'a Gate);

impl Drop for Host<'_> {
    fn drop(&mut self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
        self.0.opened.fetch_add(1, Ordering::Release);
    }
}

fn wait(is_over: impl Fn() -> bool) {
    let mut looks = 0;
    while !is_over() {
        if looks < LOOKS {
            looks += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

/// Runs `parts` on `threads` threads, the caller's included. `between` is called on the caller's thread
/// before every window, when no part runs: it answers when the window ends, or none to stop. `run` then
/// gets every part and that time.
///
/// # Panics
/// When `run` or `between` panics.
pub fn run<P: Send>(
    parts: &[Mutex<P>],
    threads: usize,
    run: impl Fn(&mut P, Time) + Sync,
    mut between: impl FnMut() -> Option<Time>,
) {
    let threads = threads.clamp(1, parts.len().max(1));
    let run_share = |thread: usize, end: Time| {
        for part in parts.iter().skip(thread).step_by(threads) {
            run(&mut part.lock().unwrap_or_else(PoisonError::into_inner), end);
        }
    };
    let gate = Gate::new();
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let (gate, run_share) = (&gate, &run_share);
            scope.spawn(move || {
                let mut seen = 0;
                while let Some(end) = gate.enter(seen) {
                    seen += 1;
                    let _visit = Visit(gate);
                    run_share(thread, end);
                }
            });
        }
        let _host = Host(&gate);
        while let Some(end) = between() {
            gate.open(end, threads - 1);
            run_share(0, end);
            wait(|| gate.running.load(Ordering::Acquire) == 0);
            if gate.has_failed.load(Ordering::Relaxed) {
                break; // the scope hands the panic on
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts for each part what it has got from the others, which is a sum over all windows.
    fn totals(parts: usize, threads: usize, windows: u64) -> Vec<u64> {
        let parts: Vec<Mutex<(u64, u64)>> = (0..parts as u64).map(|n| Mutex::new((n, 0))).collect();
        let mut opened = 0;
        run(
            &parts,
            threads,
            |part, end| part.1 = part.1.wrapping_mul(31) + part.0 + end.as_ps(),
            || {
                let all: u64 = parts.iter().map(|part| part.lock().unwrap().1 % 1_000).sum();
                parts.iter().for_each(|part| part.lock().unwrap().1 += all);
                opened += 1;
                (opened <= windows).then(|| Time::from_ps(opened))
            },
        );
        parts.into_iter().map(|part| part.into_inner().unwrap().1).collect()
    }

    #[test]
    fn every_part_runs_in_every_window_on_any_number_of_threads() {
        let expected = totals(5, 1, 1_000);
        for threads in [2, 3, 5, 9] {
            assert_eq!(totals(5, threads, 1_000), expected, "{threads} threads");
        }
    }

    #[test]
    fn a_panic_in_a_part_ends_the_run() {
        let parts: Vec<Mutex<u32>> = (0..4).map(Mutex::new).collect();
        let outcome = std::panic::catch_unwind(|| {
            run(&parts, 4, |part, end| assert!(*part != 3 || end < Time::from_ps(5), "part 3"), {
                let mut now = 0;
                move || {
                    now += 1;
                    (now < 1_000_000).then(|| Time::from_ps(now))
                }
            });
        });
        assert!(outcome.is_err());
    }

    #[test]
    fn a_panic_between_windows_ends_the_run() {
        let parts: Vec<Mutex<u32>> = (0..2).map(Mutex::new).collect();
        let outcome = std::panic::catch_unwind(|| {
            run(&parts, 2, |_, _| {}, || panic!("between"));
        });
        assert!(outcome.is_err());
    }
}
