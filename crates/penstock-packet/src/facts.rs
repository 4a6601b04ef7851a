//! What a switch knows about itself and its links.

use alloc::sync::Arc;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::{BitRate, Bytes, Fidelity, Time};

use crate::shared::Shared;

/// What a switch knows about one of its links.
#[derive(Clone, Copy, Debug)]
pub struct PortFacts {
    /// Rate in both directions.
    pub rate: BitRate,
    /// One-way propagation delay.
    pub delay: Time,
    /// Pipeline delay of the neighbour before it acts on a frame.
    pub neighbour_pipeline: Time,
    /// Tier of the neighbour: 0 a host, 1 a top-of-rack switch, and so on.
    pub neighbour_tier: u8,
    /// Node of the neighbour.
    pub neighbour: u32,
}

/// What a switch knows about itself.
#[derive(Clone, Debug)]
pub struct SwitchFacts {
    /// Node number of the switch, its name in observations.
    pub node: u32,
    /// Tier of the switch.
    pub tier: u8,
    /// Time between the last bit of a packet coming in and the packet's joining a queue.
    pub pipeline_delay: Time,
    /// The links at the ports of the switch.
    pub ports: Vec<PortFacts>,
    /// A number that makes the hash functions of this switch differ from those of other switches.
    pub salt: u32,
    /// Sizes of the frames that the switch makes.
    pub frames: SwitchFrames,
    /// Whose arithmetic the run follows.
    pub fidelity: Fidelity,
    /// What all switches share; none of our own do.
    pub shared: Option<Arc<dyn Shared>>,
}

/// Sizes of the frames that a switch makes (bytes).
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct SwitchFrames {
    /// A pause, resume or bitmap frame, and a message about congestion.
    pub control: u16,
    /// A notice to the source of a dropped packet; none where switches send no notices.
    pub notice: Option<u16>,
    /// The longest data packet.
    pub packet: u16,
}

impl SwitchFacts {
    /// The one-hop round-trip time (HRTT, BFC sec. 3.3.2): there and back on the longest link, with
    /// the pipelines at both ends.
    pub fn hop_rtt(&self) -> Time {
        self.ports.iter().map(|port| self.hop_rtt_of(port)).max().unwrap_or(Time::ZERO)
    }

    /// The one-hop round-trip time of the link at `port`.
    pub fn hop_rtt_of(&self, port: &PortFacts) -> Time {
        port.delay * 2 + port.neighbour_pipeline + self.pipeline_delay
    }

    /// The most data that can arrive at `port` from the packet at which the switch pauses it on (bytes): that
    /// packet, which an admission takes as a whole beyond XOFF, what its link carries in a one-hop round
    /// trip, the packet that the pause frame waits for, the frame itself, and the packet that the neighbour
    /// has begun (IEEE 802.1Qbb; `docs/validation.md` has the runs that hold to it).
    pub fn bytes_until_a_pause_acts(&self, port: &PortFacts) -> Bytes {
        let SwitchFrames { control, packet, .. } = self.frames;
        let frames = Bytes::new(3 * u64::from(packet) + u64::from(control));
        port.rate.bytes_in(self.hop_rtt_of(port)) + frames
    }
}
