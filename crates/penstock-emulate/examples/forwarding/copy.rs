//! The bare copy: one thread reads each frame of a device and writes it to another.

use std::error::Error;
use std::time::Duration;

use penstock_emulate::namespace::TapDevice;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::stopwatch::{Measured, Stopwatch};

/// So many frames are copied before the time is looked at (our choice: as many as the emulator's loop reads).
const FRAMES_AT_ONCE: usize = 64;

/// Copies what comes to `from` for `time`.
pub fn measure(
    from: &TapDevice,
    to: &TapDevice,
    time: Duration,
) -> Result<Measured, Box<dyn Error>> {
    let mut stopwatch = Stopwatch::new(time);
    let mut buffer = [0; 2_000];
    let mut copied = 0;
    let soon = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    loop {
        poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&soon))?;
        for _ in 0..FRAMES_AT_ONCE {
            let Some(length) = from.receive(&mut buffer)? else { break };
            to.send(&buffer[..length])?;
            copied += 1;
        }
        if let Some(measured) = stopwatch.look(copied)? {
            return Ok(measured);
        }
    }
}
