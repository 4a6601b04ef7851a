//! Non-PAUSE ECN (NP-ECN): marks only where the packets wait for the link itself, not for a pause to
//! end (W. Cheng et al., "Re-architecting Congestion Management in Lossless Ethernet" (PCN), NSDI
//! 2020, sec. 5.1, fig. 7).
//!
//! When a paused queue is resumed, the counter PN is set to the packets that it holds. These leave
//! unmarked. While PN is zero a packet is marked when it leaves others behind: ECN with a threshold
//! of zero. A port in real congestion thus marks everything, a port without a queue nothing, and one
//! that is paused again and again a part; the receiver judges which of these it sees
//! (`penstock-transport`).
//!
//! Our choices, where the paper is silent:
//! - The paper has one counter for a port with one queue; here every queue has its own, because a
//!   pause is one of a class or a queue.
//! - PN counts the bytes of those packets. A queue is first in first out, so they are the same
//!   packets, and a switch knows the bytes without counting.
//! - The queue that a packet leaves behind is looked at, not the one it finds: "threshold zero" would
//!   otherwise mark a packet that is alone.
//! - A resume of what was not paused is no RESUME: nothing waited.

use alloc::vec;
use alloc::vec::Vec;

/// NP-ECN of a switch.
#[derive(Debug)]
pub(crate) struct NonPauseEcn {
    /// PN by port and queue (bytes); a port has those queues that were resumed with packets.
    waited: Vec<Vec<u64>>,
}

impl NonPauseEcn {
    /// Of a switch with `ports` ports.
    pub(crate) fn new(ports: usize) -> Self {
        NonPauseEcn { waited: vec![vec![]; ports] }
    }

    /// `queue` of `egress` is resumed and holds `queue_bytes`.
    pub(crate) fn on_resume(&mut self, egress: u16, queue: u16, queue_bytes: u64) {
        let waited = &mut self.waited[usize::from(egress)];
        let queue = usize::from(queue);
        if waited.len() <= queue {
            waited.resize(queue + 1, 0);
        }
        waited[queue] = queue_bytes;
    }

    /// PN of `queue` at `egress` (bytes).
    pub(crate) fn waited(&self, egress: usize, queue: usize) -> u64 {
        self.waited[egress].get(queue).copied().unwrap_or(0)
    }

    /// A packet of `bytes` leaves `queue` of `egress` and `left_bytes` behind; whether it is marked.
    #[inline]
    pub(crate) fn on_dequeue(
        &mut self,
        egress: u16,
        queue: u16,
        bytes: u64,
        left_bytes: u64,
    ) -> bool {
        match self.waited[usize::from(egress)].get_mut(usize::from(queue)) {
            Some(waited) if *waited > 0 => {
                *waited -= bytes; // whole packets waited
                false
            }
            _ => left_bytes > 0,
        }
    }
}

#[cfg(test)]
#[path = "non_pause_ecn_tests.rs"]
mod tests;
