//! Non-PAUSE ECN (NP-ECN): marks packets only where they wait for the link itself, not for the end of a
//! pause (W. Cheng et al., "Re-architecting Congestion Management in Lossless Ethernet" (PCN), NSDI
//! 2020, sec. 5.1, fig. 7).
//!
//! When a paused queue resumes, the counter PN is set to the number of packets in the queue. These
//! packets leave unmarked. While PN is zero a packet is marked when it leaves others behind: ECN with a
//! threshold of zero. So a port in real congestion marks every packet, a port without a queue marks
//! none, and a port that is paused again and again marks a part. The receiver judges which of these it
//! sees (`penstock-transport`).
//!
//! Our choices, where the paper is silent:
//! - The paper has one counter for a port with one queue. Here every queue has its own counter, because
//!   a pause stops a class or a queue.
//! - PN counts the bytes of those packets. A queue is first in first out, so the bytes belong to the
//!   same packets, and a switch knows the bytes without counting.
//! - The test looks at the queue that a packet leaves behind, not at the queue that the packet finds.
//!   Otherwise "threshold zero" would mark a packet that is alone.
//! - A timed pause of all data (FAFC) and a pause that ends by itself count as resumed at their end.
//! - A resume of a queue that was not paused does not count as a RESUME, because no packet waited.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::SwitchFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::{Mark, Parameters, Policy};
use crate::passing::Passing;
use crate::stored::Stored;

/// Parameters of NP-ECN: none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NonPauseEcnConfig {}

impl Parameters for NonPauseEcnConfig {
    fn has_marks(&self) -> bool {
        true
    }
}

/// NP-ECN of a switch.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct NonPauseEcn {
    /// PN by port and queue (bytes). A port has entries up to the highest queue that resumed with
    /// packets.
    waited: Vec<Vec<u64>>,
}

impl NonPauseEcn {
    pub(crate) fn new(_: &NonPauseEcnConfig, facts: &SwitchFacts) -> Self {
        NonPauseEcn { waited: vec![vec![]; facts.ports.len()] }
    }

    /// PN of `queue` at `egress` (bytes).
    fn waited(&self, egress: u16, queue: u16) -> u64 {
        self.waited[usize::from(egress)].get(usize::from(queue)).copied().unwrap_or(0)
    }
}

impl Policy for NonPauseEcn {
    #[inline]
    fn on_dequeue(&mut self, leaving: &mut Passing<'_>) -> Mark {
        let (queue, bytes) = (leaving.packet().queue, leaving.packet().wire_bytes);
        match self.waited[usize::from(leaving.egress)].get_mut(usize::from(queue)) {
            Some(waited) if *waited > 0 => {
                *waited -= u64::from(bytes); // whole packets waited
                Mark::default()
            }
            _ => Mark::of(leaving.queue_bytes > 0),
        }
    }

    fn on_resume(&mut self, egress: u16, queue: u16, queue_bytes: u64) {
        let waited = &mut self.waited[usize::from(egress)];
        let queue = usize::from(queue);
        if waited.len() <= queue {
            waited.resize(queue + 1, 0);
        }
        waited[queue] = queue_bytes;
    }

    fn audit(&self, stored: &Stored<'_>) -> Result<(), String> {
        for (egress, number, queue) in stored.queues() {
            let (waited, bytes) = (self.waited(egress, number), queue.packets.bytes());
            if waited > bytes {
                return Err(format!(
                    "port {egress}, queue {number}: {waited} B waited through a pause, but {bytes} B \
                     are queued"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "non_pause_ecn_tests.rs"]
mod tests;
