//! Invariants of a switch, recomputed from the packets it holds: the slow truth behind the counters.

use alloc::format;
use alloc::string::String;
use alloc::vec;

use penstock_packet::PacketPool;

use crate::assignment::policy::Policy as _;
use crate::assignment::{self, Assignment};
use crate::backpressure::policy::Policy as _;
use crate::backpressure::{self, Backpressure};
use crate::marking::policy::Policy as _;
use crate::marking::{self, Marking};
use crate::port::Port;
use crate::stored::Stored;
use crate::switch::Switch;

impl Switch {
    /// Recomputes every counter from the packets that are queued.
    ///
    /// # Errors
    /// The first invariant that does not hold, in words.
    pub fn verify(&self, pool: &PacketPool) -> Result<(), String> {
        let mut ingress = vec![0; self.accounts().count()];
        for (number, port) in self.ports().iter().enumerate() {
            self.verify_port(number, port, pool, &mut ingress)?;
        }
        self.audit_policies(&Stored { ports: self.ports(), pool })
            .map_err(|what| format!("node {}, {what}", self.node()))?;
        self.verify_ingress(&ingress)
    }

    /// Has each policy check its own state.
    fn audit_policies(&self, stored: &Stored<'_>) -> Result<(), String> {
        assignment::dispatch!(self.assignment(), policy => policy.audit(stored))?;
        marking::dispatch!(self.marking(), policy => policy.audit(stored))?;
        backpressure::dispatch!(self.backpressure(), policy => policy.audit(stored))
    }

    /// Checks one port, and adds up what is queued there in bytes by ingress account.
    fn verify_port(
        &self,
        number: usize,
        port: &Port,
        pool: &PacketPool,
        ingress: &mut [u64],
    ) -> Result<(), String> {
        let (mut port_bytes, mut active) = (0, 0);
        for (index, queue) in port.queues().iter().enumerate().skip(1) {
            let mut bytes = 0;
            for packet in port.packets_in(index, pool) {
                let account = self.accounts().index(packet.ingress, packet.class);
                bytes += u64::from(packet.wire_bytes);
                ingress[account] += u64::from(packet.wire_bytes);
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
        Ok(())
    }

    /// Checks the ingress accounts, `ingress` being what is queued (bytes).
    fn verify_ingress(&self, ingress: &[u64]) -> Result<(), String> {
        let accounts = self.accounts();
        let total: u64 = ingress.iter().sum();
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
                let stored = ingress[accounts.index(port, class)];
                if stored != account.used + account.headroom {
                    return Err(format!(
                        "node {}, ingress {port}, class {class}: {stored} B stored, {} counted",
                        self.node(),
                        account.used + account.headroom
                    ));
                }
            }
        }
        Ok(())
    }
}
