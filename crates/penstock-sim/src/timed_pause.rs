//! Pauses that end by themselves (FAFC: C. Lu et al., "FAFC: Fast and Accurate Flow Control in Data
//! Center Networks", Algorithms 1 and 3), and the clocks of switches whose backpressure has one.
//!
//! A pause of given length adds to those before it. The sending end of a link that is paused has one
//! pending event, the end of the first of them; when it comes and there are more, it is scheduled
//! again.

use penstock_packet::Observer;
use penstock_units::Time;

use crate::simulation::Simulation;

impl<O: Observer> Simulation<O> {
    /// Schedules the next tick of a switch's clock, if it has one.
    pub(crate) fn expect_deadline(&mut self, switch: usize) {
        if let Some(deadline) = self.network.switches[switch].deadline() {
            self.wheel.schedule(self.sources.switch(switch as u32), deadline);
        }
    }

    pub(crate) fn on_switch_deadline(&mut self, now: Time, switch: usize) {
        self.network.switches[switch].on_deadline(now);
        self.expect_deadline(switch);
    }

    /// The sending end of `link` is paused `until` then.
    pub(crate) fn expect_release(&mut self, link: u32, until: Time) {
        let release = self.sources.release(link);
        if !self.wheel.is_pending(release) {
            self.wheel.schedule(release, until);
        }
    }

    /// A pause of the sending end of `link` ends; another one may have begun.
    pub(crate) fn on_release(&mut self, now: Time, link: u32) {
        let wire = &self.network.wires[link as usize];
        let (node, port) = (wire.from, wire.from_port);
        let until = match node.checked_sub(self.sources.hosts) {
            None => self.network.hosts[node as usize].held_until,
            Some(switch) => {
                let switch = &mut self.network.switches[switch as usize];
                switch.release(now, port);
                switch.port(port).held_until()
            }
        };
        if until > now {
            return self.expect_release(link, until);
        }
        if node < self.sources.hosts {
            self.measured.on_host_release(now, node);
        }
        self.offer(now, link);
    }

    /// The switch of `host` pauses it for `span`: its flows also cut their rates by the share of
    /// T_hop that this is (Algorithm 3), T_hop being the delay of the link.
    pub(crate) fn hold_host(&mut self, now: Time, host: u32, span: Time) {
        let paused = &mut self.network.hosts[host as usize];
        paused.held_until = paused.held_until.max(now) + span;
        let (uplink, until) = (paused.uplink, paused.held_until);
        self.expect_release(uplink, until);
        let hop = self.network.topology.links[uplink as usize].delay;
        let kept = (1.0 - span.as_ns_f64() / hop.as_ns_f64()).max(0.0);
        for slot in 0..self.slots.flows.len() as u32 {
            if self.slots.live_flow(slot).is_some_and(|flow| flow.source == host) {
                self.slots.senders[slot as usize].on_timed_pause(kept);
                self.refresh(now, host, slot);
            }
        }
    }
}
