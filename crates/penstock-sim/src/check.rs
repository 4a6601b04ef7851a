//! Invariants of a whole simulation. Each switch checks its own invariants.

use std::ops::Deref;

use penstock_packet::{Balance, Observer, Packet, PacketFlags, PacketKind};

use crate::error::InvariantError;
use crate::partition::{OrderCheck, Partition};
use crate::setting::Setting;

impl<O: Observer> Partition<O> {
    /// Checks what can be checked without the other partitions.
    fn verify(&self) -> Result<(), String> {
        if let Some(violation) = self.order.as_ref().and_then(OrderCheck::violation) {
            return Err(violation.to_owned());
        }
        for switch in &self.switches {
            switch.verify(&self.pool)?;
        }
        let (packets, _) = self.held();
        if packets != self.pool.live() {
            let live = self.pool.live();
            return Err(format!("{packets} packets are held somewhere, {live} exist"));
        }
        let bearers = self.pool.bearers() - self.slots.named();
        if bearers > packets as u64 {
            return Err(format!("{bearers} packets of {packets} bear the name of a flow"));
        }
        Ok(())
    }

    /// The number of packets in queues and on wires, and the payload of the data packets that have
    /// left their host and not arrived.
    fn held(&self) -> (usize, u64) {
        let (mut packets, mut payload) = (0, 0);
        let mut count = |packet: &Packet| {
            packets += 1;
            if packet.kind == PacketKind::Data {
                payload += u64::from(packet.payload);
            }
        };
        for wire in &self.wires {
            wire.packets(&self.pool).for_each(&mut count);
        }
        for port in self.switches.iter().flat_map(|switch| switch.ports().iter()) {
            port.control_packets(&self.pool).for_each(&mut count);
            if let Some(credits) = port.credits() {
                credits.packets(&self.pool).for_each(&mut count);
            }
            for queue in 1..port.queues().len() {
                port.packets_in(queue, &self.pool).for_each(&mut count);
            }
        }
        let hosts = self.hosts.iter();
        packets += hosts.map(|host| host.packets(&self.pool).count()).sum::<usize>();
        (packets, payload)
    }

    /// The credits at the sending end of `link`, which begins here.
    fn balance(&self, link: u32) -> Option<&Balance> {
        let wire = &self.wires[link as usize];
        match wire.from.checked_sub(self.sources.hosts) {
            None => self.hosts[wire.from as usize].balance(),
            Some(switch) => self.switches[switch as usize].balance(wire.from_port),
        }
    }
}

/// Checks that nothing is lost or counted twice.
///
/// # Errors
/// The first invariant that does not hold.
pub(crate) fn verify<O: Observer>(
    setting: &Setting,
    partitions: &[impl Deref<Target = Partition<O>>],
) -> Result<(), InvariantError> {
    let time = partitions.iter().map(|partition| partition.now()).max().unwrap_or_default();
    let fail = |what: String| InvariantError { time, what };
    for partition in partitions {
        partition.verify().map_err(fail)?;
    }
    verify_credits(setting, partitions).map_err(fail)?;
    let (mut sent, mut arrived, mut dropped, mut flying) = (0, 0, 0, 0);
    for partition in partitions {
        let hosts = partition.hosts.iter();
        sent += hosts.map(|host| host.counters().carried.payload).sum::<u64>();
        sent += partition.inner.sent;
        arrived += partition.measured.arrived_payload;
        dropped += partition.measured.dropped_payload;
        flying += partition.held().1 + partition.posted() + partition.inner.flying();
    }
    if sent != arrived + dropped + flying {
        return Err(fail(format!(
            "{sent} B of payload were sent, but {arrived} B arrived, {dropped} B were dropped and \
             {flying} B are on the way"
        )));
    }
    Ok(())
}

/// Checks both sides of the credits of every link. Everything that the sending end has paid has
/// arrived or is on the wire, and the sending end knows of no grant that was not given.
///
/// # Errors
/// The first account whose two sides disagree.
fn verify_credits<O: Observer>(
    setting: &Setting,
    partitions: &[impl Deref<Target = Partition<O>>],
) -> Result<(), String> {
    for (number, link) in (0u32..).zip(&setting.topology.links) {
        let (sender, _) = setting.placement.of_node(link.from);
        let (receiver, place) = setting.placement.of_node(link.to);
        let (sender, receiver) = (&*partitions[sender], &*partitions[receiver]);
        let places = setting.placement.of_link(number);
        let Some(switch) = place.checked_sub(receiver.hosts.len()) else { continue };
        let wire = &receiver.wires[places[1] as usize];
        let ledger = receiver.switches[switch].ledger(wire.to_port);
        let Some(balance) = sender.balance(places[0]) else { continue };
        let mut flying = vec![0; ledger.len()];
        let leaving = sender.outbox[receiver.number].packets_on(places[1]);
        let coming = receiver.inbox[sender.number].packets_on(places[1]);
        let on_wire = wire.packets(&receiver.pool);
        for packet in on_wire.chain(leaving).chain(coming).filter(|p| p.kind == PacketKind::Data) {
            let is_own = packet.flags.contains(PacketFlags::OWN_CREDIT);
            let account = if is_own { usize::from(packet.queue) } else { 0 };
            flying[account] += u64::from(packet.wire_bytes);
        }
        for (account, (flying, known)) in (0..).zip(flying.into_iter().zip(ledger)) {
            let (paid, granted) = (balance.paid(account), balance.granted(account));
            let arrived = known.arrived;
            if paid != arrived + flying || granted > known.granted {
                return Err(format!(
                    "link {number}, credit account {account}: {paid} B paid of {granted} B, but \
                     {arrived} B arrived and {flying} B fly"
                ));
            }
        }
    }
    Ok(())
}
