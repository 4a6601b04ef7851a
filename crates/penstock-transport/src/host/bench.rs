//! A host by hand, for tests: every packet comes from the test, and what the host asks for goes to it.

use alloc::vec::Vec;
use core::iter::from_fn;

use penstock_packet::Signal;

use super::*;
use crate::fixture::path;

/// Sizes of the frames of [`Bench`].
pub(super) const FRAMES: FrameBytes =
    FrameBytes { data_overhead: 48, acknowledgement: 60, control: 64 };

/// A host at 100 Gb/s, to which every packet comes that a test makes.
pub(super) struct Bench {
    pub(super) host: Host,
    pub(super) flows: Flows,
    pub(super) pool: PacketPool,
    pub(super) requests: Requests,
    pub(super) now: Time,
    pub(super) path: PathFacts,
}

impl Bench {
    pub(super) fn new(config: HostConfig) -> Self {
        Bench::of(config, Fidelity::Exact)
    }

    pub(super) fn of(config: HostConfig, fidelity: Fidelity) -> Self {
        let path = PathFacts { fidelity, ..path() };
        let facts = HostFacts {
            configs: &config.of_controllers(),
            classes: 1,
            epoch_bits: 0,
            rate: path.line_rate,
            hop_delay: Time::from_us(1),
            frames: FRAMES,
            path,
            shaping: None,
            draws: HostDraws { nic: Pcg32::new(1, 1), credits: Pcg32::new(2, 1) },
            clock: 0.0,
        };
        let (pool, now) = (PacketPool::new(false), Time::ZERO);
        let (flows, requests) = (Flows::default(), Requests::default());
        Bench { host: Host::new(&facts), flows, pool, requests, now, path }
    }

    /// Calls the host. Answers what it asks for besides.
    pub(super) fn call<A>(
        &mut self,
        call: impl FnOnce(&mut Host, &mut Turn<'_>) -> A,
    ) -> (A, Vec<Request>) {
        let Bench { host, flows, pool, requests, now, .. } = self;
        let answer = call(host, &mut Turn { now: *now, pool, flows, requests });
        (answer, from_fn(|| self.requests.poll()).collect())
    }

    /// A flow with this name and size from or to the host.
    pub(super) fn flow(&self, flow: u32, size: u64) -> Opening {
        Opening {
            flow,
            number: flow.into(),
            hash: flow,
            source: 0,
            destination: 1,
            size,
            stop: Time::NEVER,
            controller: 0,
            class: 0,
            is_incast: false,
            connections: None,
            path: self.path,
        }
    }

    pub(super) fn open(&mut self, opening: Opening) -> Vec<Request> {
        self.call(|host, turn| host.open(turn, &opening)).1
    }

    pub(super) fn expect(&mut self, opening: Opening) {
        self.call(|host, turn| host.expect(turn, &opening));
    }

    pub(super) fn close(&mut self, flow: u32) {
        self.call(|host, turn| host.close(turn, flow));
    }

    pub(super) fn receive(&mut self, packet: Packet) -> Vec<Request> {
        let id = self.pool.insert(packet);
        self.call(|host, turn| host.receive(turn, id)).1
    }

    pub(super) fn signal(&mut self, signal: Signal) -> Vec<Request> {
        self.receive(signal.frame(64))
    }

    /// A data packet of 1,000 B of `flow` arrives.
    pub(super) fn bring(&mut self, flow: u32, offset: u64) -> Vec<Request> {
        let (kind, payload, wire_bytes) = (PacketKind::Data, 1_000, 1_048);
        self.receive(Packet { kind, flow, offset, payload, wire_bytes, ..Packet::default() })
    }

    /// The acknowledgement of all bytes of `flow` before `offset` arrives.
    pub(super) fn acknowledge(&mut self, flow: u32, offset: u64) -> Vec<Request> {
        self.receive(Packet {
            kind: PacketKind::Acknowledgement,
            flow,
            offset,
            ..Packet::default()
        })
    }

    pub(super) fn timer(&mut self, timer: Timer) -> Vec<Request> {
        self.call(|host, turn| host.on_timer(turn, timer)).1
    }

    /// The packets that the host sends one after the other, until it has none.
    pub(super) fn drain(&mut self) -> Vec<Packet> {
        let sent = from_fn(|| self.call(|host, turn| host.transmit(turn)).0);
        let sent: Vec<PacketId> = sent.collect();
        sent.into_iter().map(|id| self.pool[id]).collect()
    }
}
