//! What a thread forwards in a time, and what processor time that takes.

use std::error::Error;
use std::time::{Duration, Instant};

/// What is not measured at the beginning: caches fill, and queues.
const WARM_UP: Duration = Duration::from_millis(100);

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Frames per second.
    pub rate: f64,
    /// Processor time of the forwarding thread for each frame (ns).
    pub nanoseconds: f64,
    /// Processor time of the forwarding thread in each second (s).
    pub share: f64,
}

/// Measures the thread that asks it.
pub struct Stopwatch {
    /// When the measurement begins.
    start: Instant,
    time: Duration,
    /// At the beginning of the measurement: when, how many frames, and processor time (ns).
    begun: Option<(Instant, u64, f64)>,
}

impl Stopwatch {
    /// Begins to measure soon, for `time`.
    pub fn new(time: Duration) -> Self {
        Stopwatch { start: Instant::now() + WARM_UP, time, begun: None }
    }

    /// The thread has forwarded `frames` frames so far; the result once the time is over.
    pub fn look(&mut self, frames: u64) -> Result<Option<Measured>, Box<dyn Error>> {
        let now = Instant::now();
        let Some((begin, before, busy_before)) = self.begun else {
            if now >= self.start {
                self.begun = Some((now, frames, busy_nanoseconds()?));
            }
            return Ok(None);
        };
        let elapsed = now - begin;
        if elapsed < self.time {
            return Ok(None);
        }
        let (count, busy) = ((frames - before) as f64, busy_nanoseconds()? - busy_before);
        if count == 0.0 {
            return Err("no frame was forwarded".into());
        }
        let seconds = elapsed.as_secs_f64();
        let share = busy / seconds / 1e9;
        Ok(Some(Measured { rate: count / seconds, nanoseconds: busy / count, share }))
    }
}

/// Processor time of the calling thread (ns), the first field of its `schedstat` (proc(5)).
fn busy_nanoseconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or_default().parse()?)
}
