//! What can be seen of a run while it goes on.
//!
//! The thread that drives the network publishes a [`Glance`] now and then; another thread reads the last
//! one. Invariant: the network never waits for who looks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use penstock_packet::Observer;
use penstock_sim::live::PartGlance;
use penstock_units::Time;
use serde::Serialize;

use crate::device::Device;
use crate::drive::{Drive, Recorder};
use crate::outcome::Lateness;
use crate::port::Port;

/// Time from one glance to the next (our choice: a table that changes more often is hard to read).
const INTERVAL: Duration = Duration::from_millis(200);

/// What can be seen of a run at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Glance {
    /// Time of the run (ps).
    pub now: Time,
    /// A row for each host.
    pub hosts: Vec<HostGlance>,
    /// The switches, and the NICs of hosts with kernels.
    pub network: PartGlance,
    /// How late frames have left the network so far.
    pub lateness: Lateness,
}

/// What has crossed the edge of the network at one host so far.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HostGlance {
    /// The host.
    pub host: u32,
    /// Bytes of the frames from the host.
    pub sent_bytes: u64,
    /// Bytes of the frames to the host.
    pub received_bytes: u64,
    /// Frames from the host that were not let in.
    pub refused: u64,
}

impl From<&Port> for HostGlance {
    fn from(port: &Port) -> Self {
        HostGlance {
            host: port.host(),
            sent_bytes: port.received_bytes,
            received_bytes: port.sent_bytes,
            refused: port.refusals.named().map(|(_, count)| count).sum(),
        }
    }
}

/// Where glances are published.
#[derive(Debug, Default)]
pub struct Board {
    last: Mutex<Option<Glance>>,
}

impl Board {
    /// Takes the last glance that nobody has taken yet.
    pub fn take(&self) -> Option<Glance> {
        self.last.lock().ok()?.take()
    }

    /// A function that publishes a glance at a network each time `INTERVAL` has passed.
    pub fn publisher<O: Observer, D: Device, R: Recorder>(&self) -> impl FnMut(&Drive<O, D, R>) {
        let mut due = Instant::now();
        move |network| {
            let now = Instant::now();
            if now < due {
                return;
            }
            due = now + INTERVAL;
            // Whoever reads holds the lock for a moment; then the next glance comes later.
            if let Ok(mut last) = self.last.try_lock() {
                *last = network.parts().first().map(|switches| Glance {
                    now: switches.now(),
                    hosts: network.ports().iter().map(HostGlance::from).collect(),
                    network: switches.glance(),
                    lateness: Lateness::of(network.lateness()),
                });
            }
        }
    }
}
