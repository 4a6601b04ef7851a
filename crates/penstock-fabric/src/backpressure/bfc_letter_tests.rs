//! Two rules of BFC sec. 3.3.2, stepped through two switches by hand. An upstream queue is paused exactly
//! while its pause counter downstream is above 0. And the pause of a queue that a flow has left behind
//! ends when the last packet that was counted for the queue leaves the downstream switch.

use alloc::vec::Vec;

use penstock_packet::{ControlFrame, Packet};

use super::Bfc;
use crate::assignment::dynamic::DynamicConfig;
use crate::backpressure::Backpressure;
use crate::fixture::{Bench, Flow, bfc, dynamic, flow, hop_rtts, hosts};

/// Port 0 of the upstream switch leads to port 1 of the downstream switch.
const LINK: (u16, u16) = (0, 1);

struct Hop {
    upstream: Bench,
    downstream: Bench,
}

impl Hop {
    /// Two switches with three data queues at a port, whose queues have epochs of `epoch_bits` bits. Th is
    /// 25,000 B with one active queue.
    fn new(epoch_bits: u32) -> Self {
        let assignment = DynamicConfig { epoch_bits, ..dynamic(4) };
        let bench = || Bench::new(&bfc(assignment.clone(), hop_rtts(1.0)), &hosts(4));
        Hop { upstream: bench(), downstream: bench() }
    }

    /// All 26 packets of flow 1 have gone on. The last one has paused their queue, 1, which is empty.
    fn abandoned(epoch_bits: u32) -> Self {
        let mut hop = Hop::new(epoch_bits);
        for _ in 0..26 {
            hop.upstream.admit(flow(1), 1_000);
        }
        assert_eq!(core::iter::from_fn(|| hop.pass(0)).count(), 26);
        assert!(hop.upstream.queues(LINK.0)[1].is_paused);
        hop
    }

    fn state(&self) -> &Bfc {
        let Backpressure::Bfc(bfc) = self.downstream.switch.backpressure() else { unreachable!() };
        bfc
    }

    /// Hands a frame of the downstream switch to the upstream switch, and holds the first sentence
    /// against both.
    fn tell(&mut self, frame: Option<ControlFrame>) {
        if let Some(ControlFrame { port, signal }) = frame {
            assert_eq!(port, LINK.1);
            self.upstream.signal(LINK.0, signal);
        }
        for queue in 1..4 {
            let label = self.upstream.switch.port(LINK.0).label(queue);
            let is_paused = self
                .upstream
                .queues(LINK.0)
                .get(usize::from(queue))
                .is_some_and(|queue| queue.is_paused);
            assert_eq!(is_paused, self.state().counter(LINK.1, label) > 0, "queue {queue}");
        }
    }

    /// The upstream switch sends a packet to `egress` of the downstream switch, if a packet may leave.
    fn pass(&mut self, egress: u16) -> Option<Packet> {
        let (packet, _) = self.upstream.depart(LINK.0)?;
        let flow = Flow {
            hash: packet.flow_hash,
            ingress: LINK.1,
            egress,
            upstream_queue: packet.queue,
            ..Flow::default()
        };
        let frame = self.downstream.admit(flow, packet.wire_bytes);
        self.tell(frame);
        Some(packet)
    }

    /// A packet leaves the downstream switch by `egress`.
    fn leave(&mut self, egress: u16) {
        let (_, frame) = self.downstream.depart(egress).unwrap();
        self.tell(frame);
    }
}

#[test]
fn a_queue_is_paused_if_and_only_if_its_counter_is_above_0() {
    let mut hop = Hop::new(0);
    for _ in 0..40 {
        hop.upstream.admit(flow(1), 1_000);
    }
    // 25 packets reach Th, the 26th exceeds it. Its pause stops the queue.
    assert_eq!(core::iter::from_fn(|| hop.pass(0)).count(), 26);
    for _ in 0..25 {
        hop.leave(0);
        assert!(hop.pass(0).is_none(), "a packet that exceeded Th is still there");
    }
    hop.leave(0);
    assert_eq!(core::iter::from_fn(|| hop.pass(0)).count(), 14);
}

#[test]
fn a_queue_that_its_flow_has_left_is_unpaused_when_the_last_packet_that_exceeded_th_departs() {
    let mut hop = Hop::abandoned(0);
    // New flows get the empty queues in turn, also the paused one, and none has a grace.
    let flows = [2, 3, 4].map(|number| Flow { egress: LINK.0, ..flow(number) });
    assert_eq!(flows.map(|flow| hop.upstream.queue_of(flow)), [2, 3, 1]);
    let passed: Vec<u32> =
        core::iter::from_fn(|| hop.pass(2)).map(|packet| packet.flow_hash).collect();
    assert_eq!(passed, [2, 3], "flow 4 waits for packets of flow 1");
    for _ in 0..25 {
        hop.leave(0);
        assert!(hop.pass(2).is_none());
    }
    hop.leave(0);
    assert_eq!(hop.pass(2).map(|packet| packet.flow_hash), Some(4));
}

/// Ours: the same scene with epochs.
#[test]
fn with_epochs_a_pause_of_an_earlier_flow_does_not_hold_the_next_one() {
    let mut hop = Hop::abandoned(2);
    assert_eq!(hop.upstream.switch.port(LINK.0).paused_queues(), 1);
    let flows = [2, 3, 4].map(flow);
    assert_eq!(flows.map(|flow| hop.upstream.queue_of(flow)), [2, 3, 1]);
    assert_eq!(hop.upstream.switch.port(LINK.0).paused_queues(), 0);
    let passed: Vec<u32> =
        core::iter::from_fn(|| hop.pass(2)).map(|packet| packet.flow_hash).collect();
    assert_eq!(passed, [2, 3, 4], "flow 4 is in another epoch of queue 1");
    // The flow that caused the pause comes back before its queue is forgotten. Queue 1 is in flow 4's epoch.
    assert_eq!(hop.upstream.queue_of(flow(1)), 1);
    let returned = hop.pass(0).unwrap();
    assert_eq!(
        hop.state().counter(LINK.1, returned.queue),
        1,
        "it is counted in the present epoch"
    );
    assert!(hop.upstream.queues(LINK.0)[1].is_paused);
    // 26 packets of the first epoch and one of the present one hold counters; each resumes its own.
    for _ in 0..26 {
        assert!(hop.upstream.queues(LINK.0)[1].is_paused);
        hop.leave(0);
    }
    hop.leave(0);
    assert!(!hop.upstream.queues(LINK.0)[1].is_paused);
}
