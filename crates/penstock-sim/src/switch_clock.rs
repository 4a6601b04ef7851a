//! What happens at a port without a packet: the ends of pauses that have one, tokens that suffice, and the
//! clocks of switches whose backpressure has one.
//!
//! The sending end of a link that is paused for some time has one pending event, the end of the first of
//! its pauses; when it comes and there are more, it is scheduled again.

use penstock_packet::Observer;
use penstock_transport::Timer;
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

    /// The sending end of `link`, a switch port, looks again `then`.
    pub(crate) fn expect_release(&mut self, link: u32, then: Time) {
        self.wheel.schedule_earlier(self.sources.release(link), then);
    }

    /// A pause of the sending end of `link` ends, or the tokens suffice for its next credit.
    pub(crate) fn on_release(&mut self, now: Time, link: u32) {
        let wire = &self.network.wires[link as usize];
        let (node, port) = (wire.from, wire.from_port);
        let Some(switch) = node.checked_sub(self.sources.hosts) else {
            self.call(now, node, |host, turn| host.on_timer(turn, Timer::Uplink));
            return self.serve(now, node);
        };
        let switch = &mut self.network.switches[switch as usize];
        switch.release(now, port);
        let until = switch.port(port).held_until();
        if until > now {
            return self.expect_release(link, until);
        }
        self.offer(now, link);
    }

    /// A switch has nothing to send on `link` now: looks again when the tokens suffice for the credit that
    /// waits there, if one does (ExpressPass).
    #[inline]
    pub(crate) fn await_tokens(&mut self, link: u32) {
        let wire = &self.network.wires[link as usize];
        let switch = &self.network.switches[(wire.from - self.sources.hosts) as usize];
        let credits = switch.port(wire.from_port).credits();
        if let Some(due) = credits.and_then(|credits| credits.due(&self.pool)) {
            self.expect_release(link, due);
        }
    }
}
