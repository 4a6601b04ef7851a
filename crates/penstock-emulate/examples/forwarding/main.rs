//! How fast one thread forwards frames: a bare copy from one TAP device to another, the kernel's bridge, and
//! the emulator's loop with one switch, in turn and in one run.
//!
//! What it is not: a measurement of hosts. A packet socket sends as fast as it can, on a thread of its own,
//! and the kernel of the receiver drops each frame.
//!
//! `cargo run --release -p penstock-emulate --example forwarding -- SECONDS ROUNDS`

mod bridge;
mod copy;
#[path = "../../tests/golden/mod.rs"]
mod golden;
mod sending;
mod stopwatch;
mod switch;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use penstock_emulate::namespace::{
    HostNamespace, HostSettings, PacketSocket, Stack, TapDevice, enter,
};
use penstock_wire::address;

use crate::bridge::Bridge;
use crate::sending::{Frames, Sort};
use crate::stopwatch::Measured;

/// Bytes of a frame: the shortest of Ethernet, one of 64 B, and a long one, without frame check sequence.
const FRAME_BYTES: [usize; 3] = [60, 64, 1_500];

/// How long each way is measured (s) and how often where the command does not say so.
const SECONDS: f64 = 1.0;
const ROUNDS: usize = 3;

/// A way of frames from one host to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Copy,
    Bridge,
    Switch { name: &'static str, hosts: Sort },
}

/// Switches: `tcp` has one queue at each port and drops what finds no room, `bfc` has queues of flows.
const WAYS: [Way; 6] = [
    Way::Copy,
    Way::Bridge,
    Way::Switch { name: "tcp", hosts: Sort::Ours },
    Way::Switch { name: "bfc", hosts: Sort::Ours },
    Way::Switch { name: "tcp", hosts: Sort::Kernel },
    Way::Switch { name: "bfc", hosts: Sort::Kernel },
];

impl Way {
    fn title(self) -> &'static str {
        match self {
            Way::Copy => "bare copy",
            Way::Bridge => "kernel's bridge",
            Way::Switch { name: "bfc", hosts: Sort::Ours } => "BFC switch",
            Way::Switch { hosts: Sort::Ours, .. } => "FIFO switch",
            Way::Switch { name: "bfc", .. } => "BFC switch and two NICs",
            Way::Switch { .. } => "FIFO switch and two NICs",
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(SECONDS), |text| text.parse())?;
    let rounds = arguments.next().map_or(Ok(ROUNDS), |text| text.parse())?.max(1);
    let time = Duration::try_from_secs_f64(seconds)?;
    let mut network = Network::create()?;
    let mut measured = vec![vec![]; FRAME_BYTES.len() * WAYS.len()];
    for _ in 0..rounds {
        for (row, samples) in measured.iter_mut().enumerate() {
            let (bytes, way) = (FRAME_BYTES[row / WAYS.len()], WAYS[row % WAYS.len()]);
            samples.push(network.measure(way, bytes, time)?);
        }
    }
    print(&measured);
    Ok(())
}

/// A host of which the kernel has no address, and to which others only send.
fn settings(number: u32) -> HostSettings {
    HostSettings {
        name: format!("H{number}"),
        mac: address::mac_of(number).unwrap_or(penstock_wire::MacAddress([0; 6])).0,
        mtu: 1_500,
        queue_frames: 1_000,
        stack: Stack::Packets,
    }
}

/// Who sends, and what lies between.
struct Network {
    hosts: Vec<HostNamespace>,
    /// By host: the other end of its device.
    taps: Vec<TapDevice>,
    /// At the device of host 0.
    socket: Arc<PacketSocket>,
    bridge: Bridge,
}

impl Network {
    /// Makes everything, and gives up all privileges.
    fn create() -> Result<Self, Box<dyn Error>> {
        let namespaces = enter()?;
        let made = (0..switch::HOSTS).map(|number| namespaces.host(&settings(number)));
        let (hosts, taps): (Vec<_>, _) = made.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let socket = Arc::new(hosts[0].packet_socket()?);
        let bridge = Bridge::create(Arc::clone(&socket))?;
        namespaces.drop_privileges(&hosts)?;
        Ok(Network { hosts, taps, socket, bridge })
    }

    /// Sends frames of `bytes` bytes one way for `time`.
    fn measure(
        &mut self,
        way: Way,
        bytes: usize,
        time: Duration,
    ) -> Result<Measured, Box<dyn Error>> {
        let sort = match way {
            Way::Switch { hosts, .. } => hosts,
            Way::Copy | Way::Bridge => Sort::Ours,
        };
        let frames = Frames::new(sort, bytes)?;
        let measured = match way {
            Way::Bridge => self.bridge.measure(&frames, time)?,
            Way::Copy => {
                let sender = frames.send_from(&self.hosts[0], &self.socket)?;
                let measured = copy::measure(&self.taps[0], &self.taps[1], time)?;
                sender.stop()?;
                measured
            }
            Way::Switch { name, .. } => {
                let sender = frames.send_from(&self.hosts[0], &self.socket)?;
                let measured = switch::measure((name, sort), &mut self.taps, time)?;
                sender.stop()?;
                measured
            }
        };
        sending::drain(&self.taps[0])?;
        Ok(measured)
    }
}

/// The medians of all rounds: frames per second, processor time of the forwarding thread for each frame and
/// in each second, and the time for a frame as a multiple of the copy's and the bridge's.
fn print(measured: &[Vec<Measured>]) {
    println!(
        "frame [B]  way                         frames/s  ns/frame  processor  of copy  of bridge"
    );
    let median = |samples: &[Measured], of: fn(&Measured) -> f64| {
        let mut values: Vec<f64> = samples.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    for (bytes, rows) in FRAME_BYTES.iter().zip(measured.chunks(WAYS.len())) {
        let times: Vec<f64> =
            rows.iter().map(|samples| median(samples, |one| one.nanoseconds)).collect();
        for ((way, samples), nanoseconds) in WAYS.iter().zip(rows).zip(&times) {
            let (rate, share) = (median(samples, |one| one.rate), median(samples, |one| one.share));
            println!(
                "{bytes:>9}  {:<24}  {rate:>10.0}  {nanoseconds:>8.0}  {share:>9.2}  {:>7.2}  {:>9.2}",
                way.title(),
                nanoseconds / times[0],
                nanoseconds / times[1],
            );
        }
    }
}
