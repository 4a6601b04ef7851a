//! Parts of a simulation that run beside each other on several threads, window by window.
//!
//! All parts run to the end of a window. Then the caller's thread alone looks at all of them, hands over
//! what has crossed, and says when the next window ends. Which thread runs which part makes no
//! difference, so the number of threads makes none.
//!
//! Each thread has parts of its own, which stay in its core's cache. A thread that has nothing left to do
//! looks a few times, and then takes parts that nobody has begun. So the caller's thread never waits for a
//! thread that another program keeps from its core; it waits only for parts that have been begun. A
//! thread that has waited long sleeps.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};

use penstock_units::Time;

/// How often a thread looks before it takes parts of others: about 2 us (our choice; windows that are well
/// balanced end within that).
const LOOKS: u32 = 200;

/// How often a thread then lets others run before it sleeps (our choice: about half a millisecond on an
/// idle core, a hundred times what waking it costs).
const YIELDS: u32 = 1_000;

/// The next window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// All parts run until this time.
    pub end: Time,
    /// Whether the window has work for several threads. Otherwise the caller's thread runs all parts, which
    /// is faster than calling the others.
    pub is_shared: bool,
}

/// Where threads meet.
struct Gate {
    /// How many windows have been opened to all threads.
    opened: AtomicU64,
    /// The end of the window that was opened last (ps).
    end: AtomicU64,
    /// Per part: the last window in which a thread has begun it.
    begun: Vec<AtomicU64>,
    /// How many parts have not ended the window.
    left: AtomicUsize,
    /// How many threads sleep.
    sleepers: AtomicUsize,
    /// Whether no window will follow.
    is_closed: AtomicBool,
    /// Whether a part has panicked.
    has_failed: AtomicBool,
}

impl Gate {
    fn new(parts: usize) -> Self {
        Gate {
            opened: AtomicU64::new(0),
            end: AtomicU64::new(0),
            begun: (0..parts).map(|_| AtomicU64::new(0)).collect(),
            left: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Begins `part` in window number `window`, which ends at the time returned; none when a thread has
    /// begun it before. A thread that comes late, after that window, gets none: each part has been begun.
    /// Nobody can begin a part in window 0, which is before the first.
    fn begin(&self, part: usize, window: u64) -> Option<Time> {
        self.begun[part]
            .compare_exchange(window.wrapping_sub(1), window, Ordering::Acquire, Ordering::Relaxed)
            .ok()
            .map(|_| Time::from_ps(self.end.load(Ordering::Relaxed)))
    }

    fn is_over(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// The number of the window that was opened last.
    fn window(&self) -> u64 {
        self.opened.load(Ordering::Acquire)
    }

    /// Sleeps until a window after number `seen` is open, or shorter.
    fn sleep(&self, seen: u64) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if self.opened.load(Ordering::SeqCst) == seen {
            thread::park();
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ends a part's window when it is dropped, also when the part panics.
struct Visit<'a>(&'a Gate);

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.has_failed.store(true, Ordering::Relaxed);
        }
        self.0.left.fetch_sub(1, Ordering::Release);
    }
}

/// Closes the gate when it is dropped, also when the caller's thread panics.
struct Host<'a> {
    gate: &'a Gate,
    threads: Vec<Thread>,
}

impl Host<'_> {
    /// Opens the next window, and returns its number.
    fn open(&self, end: Time) -> u64 {
        self.gate.end.store(end.as_ps(), Ordering::Relaxed);
        self.gate.left.store(self.gate.begun.len(), Ordering::Relaxed);
        self.call() + 1
    }

    /// Calls the other threads, and returns how many windows were opened before.
    fn call(&self) -> u64 {
        let before = self.gate.opened.fetch_add(1, Ordering::SeqCst);
        if self.gate.sleepers.load(Ordering::SeqCst) > 0 {
            self.threads.iter().for_each(Thread::unpark);
        }
        before
    }
}

impl Drop for Host<'_> {
    fn drop(&mut self) {
        self.gate.is_closed.store(true, Ordering::Relaxed);
        self.call();
    }
}

/// What all threads share.
struct Work<'a, P, R> {
    gate: Gate,
    parts: &'a [Mutex<P>],
    run: R,
}

impl<P: Send, R: Fn(&mut P, Time) + Sync> Work<'_, P, R> {
    fn run(&self, part: usize, end: Time) {
        (self.run)(&mut self.parts[part].lock().unwrap_or_else(PoisonError::into_inner), end);
    }

    /// Runs those of `parts` that no thread has begun in window number `window`.
    fn take(&self, parts: impl Iterator<Item = usize>, window: u64) {
        for part in parts {
            if let Some(end) = self.gate.begin(part, window) {
                let _visit = Visit(&self.gate);
                self.run(part, end);
            }
        }
    }

    /// Runs the parts of thread number `thread` of `threads` in window number `window`, and those that
    /// nobody else begins, until `is_over`. Calls `sleep` when that takes long.
    fn share(
        &self,
        (thread, threads): (usize, usize),
        window: u64,
        is_over: impl Fn() -> bool,
        sleep: impl Fn(),
    ) {
        self.take((thread..self.parts.len()).step_by(threads), window);
        let mut looks = 0;
        while !is_over() {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else if looks == LOOKS {
                self.take(0..self.parts.len(), window);
            } else if looks < LOOKS + YIELDS {
                thread::yield_now();
            } else {
                sleep();
            }
        }
    }

    /// Helps thread number 0, as thread number `thread` of `threads`, until no window follows.
    fn help(&self, (thread, threads): (usize, usize)) {
        let mut window = 0;
        while !self.gate.is_closed.load(Ordering::Relaxed) {
            let is_over = || self.gate.window() != window;
            self.share((thread, threads), window, is_over, || self.gate.sleep(window));
            window = self.gate.window();
        }
    }
}

/// Runs `parts` on `threads` threads, the caller's included. `between` is called on the caller's thread
/// before every window, when no part runs: it answers which window is next, or none to stop. `run` then
/// gets every part and the window's end.
///
/// # Panics
/// When `run` or `between` panics.
pub fn run<P: Send>(
    parts: &[Mutex<P>],
    threads: usize,
    run: impl Fn(&mut P, Time) + Sync,
    mut between: impl FnMut() -> Option<Window>,
) {
    let threads = threads.clamp(1, parts.len().max(1));
    let work = Work { gate: Gate::new(parts.len()), parts, run };
    thread::scope(|scope| {
        let helper = |thread| {
            let work = &work;
            scope.spawn(move || work.help((thread, threads))).thread().clone()
        };
        let host = Host { gate: &work.gate, threads: (1..threads).map(helper).collect() };
        while let Some(next) = between() {
            if threads == 1 || !next.is_shared {
                (0..parts.len()).for_each(|part| work.run(part, next.end));
                continue;
            }
            let window = host.open(next.end);
            work.share((0, threads), window, || host.gate.is_over(), thread::yield_now);
            if host.gate.has_failed.load(Ordering::Relaxed) {
                break; // the scope hands the panic on
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

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
                let window = Window { end: Time::from_ps(opened), is_shared: opened % 7 != 3 };
                (opened <= windows).then_some(window)
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
    fn a_thread_takes_the_parts_of_one_that_is_held_up() {
        // Thread 1 has parts 1 and 3, and part 1 goes on only when part 3 has run.
        let parts: Vec<Mutex<usize>> = (0..4).map(Mutex::new).collect();
        let (has_run, mut is_open) = (AtomicBool::new(false), true);
        run(
            &parts,
            2,
            |part, _| match *part {
                1 => {
                    let until = Instant::now() + Duration::from_secs(20);
                    while !has_run.load(Ordering::Acquire) {
                        assert!(Instant::now() < until, "nobody has taken part 3");
                        thread::yield_now();
                    }
                }
                3 => has_run.store(true, Ordering::Release),
                _ => {}
            },
            || {
                let window = Window { end: Time::from_ps(1), is_shared: true };
                std::mem::take(&mut is_open).then_some(window)
            },
        );
    }

    #[test]
    fn a_panic_in_a_part_ends_the_run() {
        let parts: Vec<Mutex<u32>> = (0..4).map(Mutex::new).collect();
        let outcome = std::panic::catch_unwind(|| {
            run(&parts, 4, |part, end| assert!(*part != 3 || end < Time::from_ps(5), "part 3"), {
                let mut now = 0;
                move || {
                    now += 1;
                    let window = Window { end: Time::from_ps(now), is_shared: true };
                    (now < 1_000_000).then_some(window)
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
