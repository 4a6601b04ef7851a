//! A port: the link between a host and the network, as one of its ends sees it. The end of a link that
//! sends a packet waits until the packet's last bit is due at the other end, and writes the frame then.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use penstock_packet::epochs::{epoch_of, queue_of};
use penstock_packet::{Packet, PacketFlags, PacketKind};
use penstock_units::{BitRate, Bytes, HopTelemetry, Time};
use penstock_wire::{
    KernelFrame, LinkAddresses, Malformed, Unwritable, address, classify, mark_congestion,
};

use crate::error::DriveError;
use crate::refusal::{Refusal, Refusals};

/// Room for the longest frame (bytes).
pub const LARGEST_FRAME: usize = penstock_wire::kernel::LARGEST_FRAME;

/// Who is at the other end of a port, and so what frames look like there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A host of ours, seen from the network.
    Host,
    /// The network, seen from a host of ours.
    Network,
    /// The kernel of a host, seen from the network.
    Kernel,
}

/// What the network lets hosts say.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// Hosts of the network.
    pub hosts: u32,
    /// Those with kernels, ascending.
    pub kernels: Arc<[u32]>,
    /// Priority classes.
    pub classes: u8,
    /// Queues of a NIC, the control queue included.
    pub queues: u16,
    /// Bits of the epochs of these queues; 0 where they have none.
    pub epoch_bits: u32,
}

/// A frame that waits until it is due.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub due: Time,
    pub bytes: Vec<u8>,
}

/// The state of a port without its device.
#[derive(Debug)]
pub struct Port {
    /// The host at one of the ends.
    host: u32,
    peer: Peer,
    /// Its place in the list of parts.
    pub(crate) part: usize,
    /// The link by which packets come here.
    pub(crate) into: u32,
    /// The rate of that link inside a host with a kernel; elsewhere its sender keeps to its rate.
    inside: Option<BitRate>,
    /// When the last packet has arrived.
    last: Time,
    /// Frames that are to be sent, the first to be due first.
    pub(crate) waiting: VecDeque<Waiting>,
    allowed: Allowed,
    /// What was not let in.
    pub refusals: Refusals,
    /// Frames that were let in.
    pub received: u64,
    /// Frames that were sent.
    pub sent: u64,
    /// The bytes of the frames that were read, those that were not let in as well.
    pub received_bytes: u64,
    /// The bytes of the frames that were sent.
    pub sent_bytes: u64,
}

impl Port {
    /// The port of `host` in part number `part`, to which `into` leads; `inside` is the rate of that link
    /// where the host has a kernel.
    pub fn new(
        host: u32,
        (peer, inside): (Peer, Option<BitRate>),
        part: usize,
        into: u32,
        allowed: Allowed,
    ) -> Self {
        Port {
            host,
            peer,
            part,
            into,
            inside,
            last: Time::ZERO,
            waiting: VecDeque::new(),
            allowed,
            refusals: Refusals::default(),
            received: 0,
            sent: 0,
            received_bytes: 0,
            sent_bytes: 0,
        }
    }

    /// The host at one of the ends.
    pub fn host(&self) -> u32 {
        self.host
    }

    /// Whether frames here are those of a kernel.
    pub(crate) fn is_kernel(&self) -> bool {
        self.peer == Peer::Kernel
    }

    /// Whether the other end gets a frame for `packet`. Feedback of QCN and notices of drops are for hosts of
    /// ours; a kernel has no use for them, and they have no frame of a kernel.
    pub(crate) fn has_frame_for(&self, packet: &Packet) -> bool {
        !self.is_kernel() || packet.kind == PacketKind::Data
    }

    /// When a packet of this size that is read `now` has arrived.
    pub(crate) fn arrival(&mut self, now: Time, wire_bytes: u16) -> Time {
        let bytes = Bytes::new(u64::from(wire_bytes));
        let crossing = self.inside.map_or(Time::ZERO, |rate| rate.transmission_time(bytes));
        self.last = now.max(self.last) + crossing;
        self.last
    }

    /// The packet that a frame of a kernel is; none when it is not let in.
    pub(crate) fn read_kernel(&mut self, frame: &[u8]) -> Option<Packet> {
        let refused = match classify(frame) {
            Err(malformed) => Refusal::Malformed(malformed),
            Ok(KernelFrame::Link(traffic)) => Refusal::Link(traffic),
            Ok(KernelFrame::Packet(kernel)) if kernel.source != self.host => Refusal::Spoofed,
            Ok(KernelFrame::Packet(kernel)) if kernel.destination >= self.allowed.hosts => {
                Refusal::Malformed(Malformed::Address)
            }
            Ok(KernelFrame::Packet(kernel))
                if self.allowed.kernels.binary_search(&kernel.destination).is_err() =>
            {
                Refusal::NoKernel
            }
            Ok(KernelFrame::Packet(kernel)) => {
                self.received += 1;
                return Some(Packet {
                    source: kernel.source,
                    destination: kernel.destination,
                    flow_hash: kernel.flow_hash,
                    remaining: u32::MAX,
                    wire_bytes: kernel.frame_bytes,
                    payload: kernel.payload,
                    class: kernel.class.min(self.allowed.classes - 1),
                    ..Packet::default()
                });
            }
        };
        self.refusals.count(refused);
        None
    }

    /// The packet that a frame of ours is, and its telemetry; none when it is not let in.
    pub(crate) fn read_ours(
        &mut self,
        frame: &[u8],
        telemetry: &mut Vec<HopTelemetry>,
    ) -> Option<Packet> {
        let read = penstock_wire::read(frame).map_err(Refusal::Malformed).and_then(|frame| {
            self.check(&frame.packet)?;
            Ok(frame)
        });
        match read {
            Ok(frame) => {
                self.received += 1;
                telemetry.clear();
                telemetry.extend(frame.telemetry.iter());
                Some(frame.packet)
            }
            Err(refusal) => {
                self.refusals.count(refusal);
                None
            }
        }
    }

    /// Hosts send no signals, and nothing in another's name. The network is trusted.
    fn check(&self, packet: &Packet) -> Result<(), Refusal> {
        if self.peer == Peer::Network {
            return Ok(());
        }
        let Allowed { hosts, classes, queues, epoch_bits, .. } = self.allowed;
        let sender = if packet.kind.goes_to_source() { packet.destination } else { packet.source };
        if packet.kind.is_link_local() {
            return Err(Refusal::Signal);
        }
        if sender != self.host || packet.source >= hosts || packet.destination >= hosts {
            return Err(Refusal::Spoofed);
        }
        // The queue of a reply is of the port that it came from, and nobody looks at it.
        if packet.kind != PacketKind::Data {
            return Ok(());
        }
        let (queue, epoch) = match epoch_bits {
            0 => (packet.queue, 0),
            _ => (queue_of(packet.queue), epoch_of(packet.queue)),
        };
        match packet.class < classes && queue < queues && u32::from(epoch) < 1 << epoch_bits {
            true => Ok(()),
            false => Err(Refusal::Queue),
        }
    }

    /// A packet leaves, whose last bit is due at the other end at `due`. Of a packet of a kernel, `bytes`
    /// are the frame; else the frame is written into them.
    pub(crate) fn send(
        &mut self,
        due: Time,
        packet: &Packet,
        telemetry: &[HopTelemetry],
        mut bytes: Vec<u8>,
    ) -> Result<(), Unwritable> {
        if self.is_kernel() {
            if packet.flags.contains(PacketFlags::MARKED) {
                mark_congestion(&mut bytes);
            }
        } else {
            bytes.resize(penstock_wire::frame::frame_bytes(packet, telemetry.len()), 0);
            penstock_wire::write(packet, telemetry, self.addresses(), &mut bytes)?;
        }
        self.waiting.push_back(Waiting { due, bytes });
        Ok(())
    }

    /// Its device is gone.
    pub(crate) fn gone(&self, error: io::Error) -> DriveError {
        DriveError::Device { host: self.host, error }
    }

    /// The addresses of frames of ours on this link.
    fn addresses(&self) -> LinkAddresses {
        let of = |address: Option<_>| address.unwrap_or(penstock_wire::MacAddress([0; 6]));
        let host = of(address::mac_of(self.host));
        let network = of(address::switch_mac_of(self.host));
        match self.peer {
            Peer::Network => LinkAddresses { destination: network, source: host },
            Peer::Host | Peer::Kernel => LinkAddresses { destination: host, source: network },
        }
    }
}
