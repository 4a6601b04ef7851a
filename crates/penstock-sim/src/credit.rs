//! What hosts do with credits (ExpressPass: I. Cho et al., SIGCOMM 2017): the receiver sends them, the
//! sender turns each into a data packet. Switches and NICs give them a queue and a rate of their own
//! (`penstock_fabric::scheduling::credit_shaping`).
//!
//! A host sends acknowledgements, requests and stops first, then a credit when its tokens suffice, then
//! the data that credits have paid for, in the order of their credits; its NIC has nothing to choose.
//! Where only credits wait, the event for the end of a timed pause of the link serves for the tokens.

use penstock_engine::stream;
use penstock_fabric::SchedulingConfig;
use penstock_packet::{CreditQueue, Observer, Packet, PacketId, PacketKind};
use penstock_transport::{ControllerConfig, CreditSignal, CreditUse};
use penstock_units::{BitRate, Time};
use rand_core::RngCore;
use rand_pcg::Pcg32;

use crate::scenario::Scenario;
use crate::simulation::Simulation;

/// What a host with credits has beside its NIC.
#[derive(Debug)]
pub struct HostCredits {
    /// Credits that wait for the uplink.
    pub credits: CreditQueue,
    /// Data that were paid for and wait for it.
    pub data: penstock_packet::Fifo,
}

impl HostCredits {
    /// Of a host with an uplink of `rate`; none where the scheme has no credits.
    pub fn new(scenario: &Scenario, rate: BitRate) -> Option<Box<Self>> {
        let SchedulingConfig::CreditShaping(config) = &scenario.scheme.switch.scheduling else {
            return None;
        };
        let data = penstock_packet::Fifo::default();
        Some(Box::new(HostCredits { credits: CreditQueue::new(config, rate), data }))
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.credits.is_empty() && self.data.is_empty()
    }
}

/// The credits of a whole simulation.
#[derive(Debug)]
pub(crate) struct Credits {
    random: Pcg32,
    /// Credits that receivers have sent, or tried to.
    pub sent: u64,
    /// Credits that came to a sender with nothing to send.
    pub wasted: u64,
}

impl Credits {
    /// None where the scheme has no credits.
    pub(crate) fn new(scenario: &Scenario) -> Option<Box<Self>> {
        let ControllerConfig::Expresspass(_) = scenario.scheme.host.controller else { return None };
        let mut named = stream(scenario.seed, "credits");
        let random = Pcg32::new(named.next_u64(), named.next_u64());
        Some(Box::new(Credits { random, sent: 0, wasted: 0 }))
    }
}

impl<O: Observer> Simulation<O> {
    /// Credits that were dropped at hosts and switches.
    pub(crate) fn dropped_credits(&self) -> u64 {
        let switches = self.network.switches.iter().flat_map(|switch| switch.ports());
        let ports = switches.filter_map(|port| port.credits());
        let hosts = self.network.hosts.iter().filter_map(|host| host.credits.as_ref());
        let dropped = ports.chain(hosts.map(|host| &host.credits)).map(CreditQueue::dropped);
        dropped.sum()
    }

    /// Sends the credit of the flow in `slot` that is due at `now`, if one is.
    pub(crate) fn send_due_credit(&mut self, now: Time, slot: u32) {
        let Some(credits) = &mut self.credits else { return };
        let receiver = &mut self.slots.receivers[slot as usize];
        let Some(credit) = receiver.take_credit(now, &mut credits.random) else { return };
        credits.sent += 1;
        let offset = receiver.delivered();
        let packet = Packet {
            route: self.slots.back(slot),
            offset,
            sent_at: now,
            tag: credit.number,
            wire_bytes: credit.wire_bytes as u16,
            kind: PacketKind::Credit,
            ..Packet::default()
        };
        let id = self.insert_packet(slot, packet);
        let host = self.slots.flows[slot as usize].destination;
        let host = &mut self.network.hosts[host as usize];
        let uplink = host.uplink;
        let queue = host.credits.as_mut();
        if queue.is_some_and(|queue| queue.credits.push(&mut self.pool, id)) {
            self.offer(now, uplink);
        } else {
            self.retire(id);
        }
    }

    /// A credit arrived at `host`, the source of its flow: it becomes the data packet that it pays for.
    pub(crate) fn on_credit(&mut self, now: Time, host: u32, id: PacketId) {
        let credit = self.pool[id];
        let slot = credit.flow;
        let has_ended = self.slots.live_flow(slot).is_none();
        let sender = &mut self.slots.senders[slot as usize];
        let result =
            if has_ended { CreditUse::Wasted } else { sender.on_credit(now, credit.offset) };
        match result {
            CreditUse::Wasted => {
                if let Some(credits) = &mut self.credits {
                    credits.wasted += 1;
                }
                self.retire(id);
            }
            CreditUse::Completes => {
                self.end_flow(now, host, slot);
                return self.retire(id);
            }
            CreditUse::Sends(segment) => {
                let elapsed = (now - credit.sent_at).as_ps() / 1_000;
                self.pool[id] = Packet {
                    remaining: u32::try_from(elapsed).unwrap_or(u32::MAX),
                    tag: credit.tag,
                    ..self.data_packet(now, slot, &segment, 0)
                };
                // The credit is no more.
                self.slots.flows[slot as usize].packets -= 1;
                let host = &mut self.network.hosts[host as usize];
                let uplink = host.uplink;
                if let Some(queue) = &mut host.credits {
                    queue.data.push(&mut self.pool, id);
                }
                self.offer(now, uplink);
            }
        }
        if !has_ended {
            self.signal_receiver(now, host, slot);
            self.watch(slot);
        }
    }

    /// Data have arrived at `now` that a credit paid for.
    pub(crate) fn on_credited_data(&mut self, now: Time, id: PacketId) {
        let packet = &self.pool[id];
        // The credit's flight to the sender, and that of the data.
        let elapsed = Time::from_ns(u64::from(packet.remaining)) + (now - packet.sent_at);
        let receiver = &mut self.slots.receivers[packet.flow as usize];
        receiver.on_credited_data(now, packet.tag, elapsed);
    }

    /// Sends what the sender in `slot` at `host` has to tell of credits, if anything.
    #[inline]
    pub(crate) fn signal_receiver(&mut self, now: Time, host: u32, slot: u32) {
        if let Some(signal) = self.slots.senders[slot as usize].take_credit_signal(now) {
            self.send_credit_signal(now, host, slot, signal);
        }
    }

    fn send_credit_signal(&mut self, now: Time, host: u32, slot: u32, signal: CreditSignal) {
        let (kind, remaining) = match signal {
            CreditSignal::Request { packets } => (PacketKind::CreditRequest, packets),
            CreditSignal::Stop => (PacketKind::CreditStop, 0),
        };
        let route = self.slots.forward(slot);
        self.watch(slot);
        self.send_control(now, host, slot, Packet { route, kind, remaining, ..Packet::default() });
    }

    /// A request or a stop arrived at the destination of its flow.
    pub(crate) fn on_credit_signal(&mut self, now: Time, id: PacketId) {
        let packet = self.pool[id];
        let signal = match packet.kind {
            PacketKind::CreditStop => CreditSignal::Stop,
            _ => CreditSignal::Request { packets: packet.remaining },
        };
        if self.slots.live_flow(packet.flow).is_some() {
            let receiver = &mut self.slots.receivers[packet.flow as usize];
            receiver.on_credit_signal(now, signal);
            self.send_due_credit(now, packet.flow);
            self.watch_receiver(packet.flow);
        }
        self.retire(id);
    }

    /// The next credit or credited data packet that `host` sends at `now`.
    #[inline]
    pub(crate) fn credited(&mut self, now: Time, host: u32) -> Option<PacketId> {
        let waiting = self.network.hosts[host as usize].credits.as_mut()?;
        waiting.credits.pop(now, &self.pool).or_else(|| waiting.data.pop(&self.pool))
    }

    /// Nothing can be sent on `link` now: sees to an event when the tokens suffice for the credit that
    /// waits at its sending end, if one does.
    #[inline]
    pub(crate) fn await_tokens(&mut self, link: u32) {
        if self.credits.is_none() {
            return;
        }
        let wire = &self.network.wires[link as usize];
        let queue = match wire.from.checked_sub(self.sources.hosts) {
            None => self.network.hosts[wire.from as usize].credits.as_ref().map(|own| &own.credits),
            Some(switch) => self.network.switches[switch as usize].port(wire.from_port).credits(),
        };
        if let Some(due) = queue.and_then(|queue| queue.due(&self.pool)) {
            self.expect_release(link, due);
        }
    }
}
