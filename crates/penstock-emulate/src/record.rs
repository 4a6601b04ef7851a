//! What has entered the network of a run, packet by packet, and the network that gets it again.

use penstock_packet::Packet;
use penstock_sim::StandstillError;
use penstock_sim::live::{LiveRun, Part};
use penstock_sim::rows::Record;
use penstock_units::{HopTelemetry, Time};

use crate::drive::Recorder;

/// A packet that has entered the network.
#[derive(Clone, Debug)]
pub struct Entered {
    /// The link by which it came.
    pub link: u32,
    /// When it had arrived.
    pub arrival: Time,
    /// The packet.
    pub packet: Packet,
    /// Its telemetry, the oldest hop first.
    pub telemetry: Vec<HopTelemetry>,
}

/// All packets that have entered a network, in the order in which they were read.
#[derive(Debug, Default)]
pub struct Recording(pub Vec<Entered>);

impl Recorder for Recording {
    fn enters(&mut self, link: u32, arrival: Time, packet: &Packet, telemetry: &[HopTelemetry]) {
        let telemetry = telemetry.to_vec();
        self.0.push(Entered { link, arrival, packet: *packet, telemetry });
    }
}

impl Recording {
    /// Gives all packets that had arrived by `end` to `switches`, the first part of a new network of the same
    /// scenario, and lets everything happen that is due until then.
    ///
    /// # Errors
    /// When time stands still, which it did not in the run.
    pub fn replay<O: Record>(
        &self,
        run: &LiveRun<O>,
        switches: &mut Part<O>,
        end: Time,
    ) -> Result<(), StandstillError> {
        let instant = Time::from_ps(1);
        // A frame of a kernel that was read later may have arrived earlier, at another host.
        let mut entered: Vec<_> = self.0.iter().filter(|one| one.arrival <= end).collect();
        entered.sort_by_key(|one| one.arrival);
        for Entered { link, arrival, packet, telemetry } in entered {
            switches.advance_to(arrival.saturating_sub(instant))?;
            switches.take_leaving(|_| {});
            let from = run.topology().links[*link as usize].from;
            if run.strangers().binary_search(&from).is_ok() {
                switches.receive_stranger(*link, *arrival, packet);
            } else {
                switches.receive(*link, *arrival, packet, telemetry);
            }
        }
        switches.advance_to(end)?;
        switches.take_leaving(|_| {});
        Ok(())
    }
}
