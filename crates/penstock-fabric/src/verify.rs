//! Invariants of a switch, recomputed from the packets it holds: the slow truth behind the counters.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use penstock_packet::{PacketFlags, PacketPool};

use crate::assignment::Assignment;
use crate::backpressure::bfc::UPSTREAM_QUEUES;
use crate::backpressure::credits::paid_by;
use crate::marking::Marking;
use crate::port::Port;
use crate::switch::Switch;

/// What the packets in the queues add up to, by ingress.
struct Recount {
    /// Bytes by ingress account.
    ingress: Vec<u64>,
    /// Packets that hold a pause counter: one row of upstream queues for each ingress port.
    counted: Vec<u32>,
    /// Bytes by egress and ingress.
    pairs: Vec<u64>,
}

impl Switch {
    /// Recomputes every counter from the packets that are queued.
    ///
    /// # Errors
    /// The first invariant that does not hold, in words.
    pub fn verify(&self, pool: &PacketPool) -> Result<(), String> {
        let mut recount = Recount {
            ingress: vec![0; self.accounts().count()],
            counted: vec![0; self.ports().len() * UPSTREAM_QUEUES],
            pairs: vec![0; self.ports().len() * self.ports().len()],
        };
        for (number, port) in self.ports().iter().enumerate() {
            let tracked = self.verify_port(number, port, pool, &mut recount)?;
            if let Assignment::Dynamic(table) = self.assignment()
                && table.sizes(number as u16) != tracked
            {
                return Err(format!(
                    "node {}, port {number}: the flow table counts {} packets, {tracked} are queued",
                    self.node(),
                    table.sizes(number as u16)
                ));
            }
        }
        self.verify_credits(pool)?;
        self.verify_flow_pauses(pool)?;
        self.verify_pairs(&recount)?;
        self.verify_ingress(&recount)
    }

    /// Checks one port and returns how many of its packets are tracked.
    fn verify_port(
        &self,
        number: usize,
        port: &Port,
        pool: &PacketPool,
        recount: &mut Recount,
    ) -> Result<u64, String> {
        let (mut port_bytes, mut active, mut tracked) = (0, 0, 0);
        for (index, queue) in port.queues().iter().enumerate().skip(1) {
            let mut bytes = 0;
            for packet in port.packets_in(index, pool) {
                let account = self.accounts().index(packet.ingress, packet.class);
                bytes += u64::from(packet.wire_bytes);
                recount.ingress[account] += u64::from(packet.wire_bytes);
                let pair = number * self.ports().len() + usize::from(packet.ingress);
                recount.pairs[pair] += u64::from(packet.wire_bytes);
                tracked += u64::from(packet.flags.contains(PacketFlags::TRACKED));
                let key = usize::from(packet.ingress) * UPSTREAM_QUEUES;
                recount.counted[key + usize::from(packet.upstream_queue) % UPSTREAM_QUEUES] +=
                    u32::from(packet.flags.contains(PacketFlags::COUNTED));
            }
            let is_stopped = queue.is_held() || queue.is_dry || port.is_class_paused(queue.class);
            let may_send = bytes > 0 && !is_stopped;
            if bytes != queue.packets.bytes() || may_send != queue.is_active {
                return Err(format!(
                    "node {}, port {number}, queue {index}: {bytes} B queued, {} B counted; active \
                     {} but should be {may_send}",
                    self.node(),
                    queue.packets.bytes(),
                    queue.is_active
                ));
            }
            if let Marking::NonPauseEcn(ecn) = self.marking()
                && ecn.waited(number, index) > bytes
            {
                return Err(format!(
                    "node {}, port {number}, queue {index}: {} B waited through a pause, but {bytes} B \
                     are queued",
                    self.node(),
                    ecn.waited(number, index)
                ));
            }
            port_bytes += bytes;
            active += u32::from(may_send);
        }
        if port_bytes != port.bytes() || active != port.active() {
            return Err(format!(
                "node {}, port {number}: {port_bytes} B in {active} active queues, counted {} B in {}",
                self.node(),
                port.bytes(),
                port.active()
            ));
        }
        Ok(tracked)
    }

    /// Checks that credit is granted once only, and that dry queues are stopped.
    fn verify_credits(&self, pool: &PacketPool) -> Result<(), String> {
        let Some(credits) = self.credits() else { return Ok(()) };
        let mut stored = vec![0; self.ports().len() * usize::from(credits.accounts())];
        for (number, port) in (0..).zip(self.ports()) {
            for (index, queue) in (0u16..).zip(port.queues()).skip(1) {
                for packet in port.packets_in(usize::from(index), pool) {
                    let row = usize::from(packet.ingress) * usize::from(credits.accounts());
                    stored[row + usize::from(paid_by(packet))] += u64::from(packet.wire_bytes);
                }
                let is_dry = credits.balance(number).is_some_and(|balance| balance.is_dry(index));
                if is_dry != queue.is_dry {
                    return Err(format!(
                        "node {}, port {number}, queue {index}: without credit {is_dry}, stopped {}",
                        self.node(),
                        queue.is_dry
                    ));
                }
            }
        }
        credits.verify(&stored).map_err(|what| format!("node {}: {what}", self.node()))
    }

    /// Checks the pause counters of flows, and that a queue waits for the flow at its head only.
    fn verify_flow_pauses(&self, pool: &PacketPool) -> Result<(), String> {
        let Some(flows) = self.flow_pauses() else { return Ok(()) };
        let mut counted = 0;
        for (number, port) in (0..).zip(self.ports()) {
            for (index, queue) in (0u16..).zip(port.queues()).skip(1) {
                if queue.is_paused != flows.is_head_paused((number, index), port, pool) {
                    return Err(format!(
                        "node {}, port {number}, queue {index}: paused {}, unlike the flow at its head",
                        self.node(),
                        queue.is_paused
                    ));
                }
                for packet in port.packets_in(usize::from(index), pool) {
                    let is_counted = packet.flags.contains(PacketFlags::COUNTED);
                    counted += u64::from(is_counted);
                    if is_counted && flows.counter(packet) == 0 {
                        return Err(format!(
                            "node {}, port {number}, queue {index}: a counted packet has no counter",
                            self.node()
                        ));
                    }
                }
            }
        }
        if counted != flows.counted() {
            return Err(format!(
                "node {}: {counted} counted packets are queued, pause counters hold {}",
                self.node(),
                flows.counted()
            ));
        }
        Ok(())
    }

    /// Checks the counters of every pair of ports, and the pauses for their sake.
    fn verify_pairs(&self, recount: &Recount) -> Result<(), String> {
        let counter = |ingress, egress| match (self.fafc(), self.pairs()) {
            (Some(fafc), _) => Some(fafc.stored(ingress, egress)),
            (None, pairs) => pairs.map(|pairs| pairs.stored(ingress, egress)),
        };
        let ports = self.ports().len();
        for (pair, &stored) in recount.pairs.iter().enumerate() {
            let (ingress, egress) = ((pair % ports) as u16, (pair / ports) as u16);
            let Some(counted) = counter(ingress, egress) else { return Ok(()) };
            if stored != counted {
                return Err(format!(
                    "node {}: {stored} B are queued from port {ingress} to {egress}, {counted} \
                     counted",
                    self.node()
                ));
            }
        }
        let Some(pairs) = self.pairs() else { return Ok(()) };
        match (0..ports as u16).find(|&ingress| !pairs.has_reasons(ingress)) {
            Some(ingress) => Err(format!(
                "node {}, ingress {ingress}: the reasons for its pause are miscounted",
                self.node()
            )),
            None => Ok(()),
        }
    }

    fn verify_ingress(&self, recount: &Recount) -> Result<(), String> {
        let accounts = self.accounts();
        let total: u64 = recount.ingress.iter().sum();
        if total != accounts.total {
            return Err(format!(
                "node {}: {total} B stored, {} counted",
                self.node(),
                accounts.total
            ));
        }
        let shared = self.admission().recounted_shared().unwrap_or(accounts.shared);
        if shared != accounts.shared {
            return Err(format!(
                "node {}: accounts hold {shared} shared B, {} counted",
                self.node(),
                accounts.shared
            ));
        }
        for port in 0..self.ports().len() as u16 {
            for class in 0..(accounts.count() / self.ports().len()) as u8 {
                let account = accounts.ingress(port, class);
                let stored = recount.ingress[accounts.index(port, class)];
                if stored != account.used + account.headroom {
                    return Err(format!(
                        "node {}, ingress {port}, class {class}: {stored} B stored, {} counted",
                        self.node(),
                        account.used + account.headroom
                    ));
                }
            }
            let Some(bfc) = self.bfc() else { continue };
            for queue in 0..UPSTREAM_QUEUES as u16 {
                let marked =
                    recount.counted[usize::from(port) * UPSTREAM_QUEUES + usize::from(queue)];
                if marked != bfc.counter(port, queue) {
                    return Err(format!(
                        "node {}, ingress {port}, upstream queue {queue}: pause counter {}, but \
                         {marked} counted packets are queued",
                        self.node(),
                        bfc.counter(port, queue)
                    ));
                }
            }
        }
        Ok(())
    }
}
