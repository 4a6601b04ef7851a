//! What has entered the network of a run, packet by packet, and the network that gets it again.

use penstock_packet::Packet;
use penstock_sim::live::{self, LiveRun, Part};
use penstock_sim::rows::Record;
use penstock_sim::topology::Topology;
use penstock_sim::{Scenario, ScenarioError, StandstillError};
use penstock_units::{HopTelemetry, Time};

use crate::assemble::Surroundings;
use crate::drive::Recorder;
use crate::nic;

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
    /// Gives all packets to the switches of a new network of `scenario`, and lets everything happen that is
    /// due until `end`. Answers the run and all parts, the switches first. Hosts stay idle.
    ///
    /// # Errors
    /// When the scenario is refused.
    ///
    /// # Panics
    /// When time stands still, which it did not in the run.
    pub fn replayed<O: Record>(
        &self,
        scenario: &Scenario,
        surroundings: &Surroundings,
        observer: impl FnMut(&Topology) -> O,
        end: Time,
    ) -> Result<(LiveRun<O>, Vec<Part<O>>), ScenarioError> {
        let nic = nic::beside(&scenario.scheme.switch, surroundings.nic_memory);
        let (run, mut parts) = live::build(scenario, &surroundings.kernels, &nic, observer)?;
        self.replay(&mut parts[0], &surroundings.kernels, &run, end).expect("time passes");
        Ok((run, parts))
    }

    fn replay<O: Record>(
        &self,
        switches: &mut Part<O>,
        kernels: &[u32],
        run: &LiveRun<O>,
        end: Time,
    ) -> Result<(), StandstillError> {
        let instant = Time::from_ps(1);
        for Entered { link, arrival, packet, telemetry } in &self.0 {
            switches.advance_to(arrival.saturating_sub(instant))?;
            switches.take_leaving(|_| {});
            let from = run.topology().links[*link as usize].from;
            if kernels.binary_search(&from).is_ok() {
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
