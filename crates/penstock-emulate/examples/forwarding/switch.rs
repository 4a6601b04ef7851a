//! The emulator's loop with a switch: two hosts of a rack with four, and the frames of one to the other.
//! Hosts with kernels have NICs: the frames pass three switches.

use std::error::Error;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use penstock_emulate::assemble::{Assembly, assemble, build};
use penstock_emulate::capture::Capture;
use penstock_emulate::clock::Clock;
use penstock_emulate::namespace::TapDevice;
use penstock_packet::Unobserved;
use penstock_sim::Scenario;
use penstock_units::{Bytes, Time};
use serde_json::json;

use crate::golden;
use crate::sending::Sort;
use crate::stopwatch::{Measured, Stopwatch};

/// Hosts of the golden scenarios.
pub const HOSTS: u32 = 8;

/// A second of the run takes so many of the machine. With fewer, what a scheme repeats (BFC's bitmaps, each
/// 100 us) is a part of the time of a frame; runs need more.
const SCALE: u32 = 100;

/// Links of 4 Tb/s (bit/s) and 1 us become links of 40 Gb/s and 100 us: faster than frames come here.
const LINK_RATE: u64 = 4_000_000_000_000;

/// What a NIC holds for each direction: the default of the emulator.
const NIC_MEMORY: Bytes = Bytes::new(4 << 20);

/// Forwards what host 0 sends for `time` by the switches of the scheme `name`.
pub fn measure(
    (name, hosts): (&str, Sort),
    taps: &mut Vec<TapDevice>,
    time: Duration,
) -> Result<Measured, Box<dyn Error>> {
    let scenario = scenario(name)?;
    let kernels: Vec<u32> = match hosts {
        Sort::Kernel => (0..HOSTS).collect(),
        Sort::Ours => vec![],
    };
    let network = build(&scenario, &kernels, NIC_MEMORY, |_| Unobserved)?;
    let clock = Clock::starting_in(Time::ZERO, SCALE);
    // The threads of our hosts have no part in this: frames come from elsewhere.
    let mut far_ends =
        (0..HOSTS).map(|_| UnixDatagram::unbound()).collect::<Result<Vec<_>, _>>()?;
    let at_host = |_| far_ends.pop().expect("one for each host");
    let Assembly { mut network, .. } =
        assemble(&scenario, clock, network, std::mem::take(taps), at_host, None::<Capture>)?;
    let mut stopwatch = Stopwatch::new(time);
    let mut outcome = Ok(None);
    network.run_while(Time::NEVER, &AtomicBool::new(false), |network| {
        outcome = stopwatch.look(network.ports()[1].sent);
        matches!(outcome, Ok(None))
    })?;
    *taps = network.take_devices();
    if let Some((reason, frames)) = network.ports()[0].refusals.named().next() {
        return Err(format!("{frames} frames were not let in: {reason}").into());
    }
    outcome?.ok_or_else(|| "the run ended before the measurement".into())
}

/// The golden scenario of a scheme, with links that hold up no frame.
fn scenario(name: &str) -> Result<Scenario, Box<dyn Error>> {
    let mut scenario = golden::without_flows(name);
    scenario["topology"]["host_rate"] = json!(LINK_RATE);
    scenario["topology"]["spine_rate"] = json!(LINK_RATE);
    scenario["wire"]["payload"] = json!(1_440);
    scenario["wire"]["header"] = json!(60);
    Ok(Scenario::from_json(&scenario.to_string())?)
}
