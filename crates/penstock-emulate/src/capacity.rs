//! What the machine can forward, and what a run may ask of it.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use penstock_sim::Scenario;
use penstock_sim::live::LiveFlow;
use penstock_sim::topology::Topology;
use penstock_wire::address;

use crate::config::{EmulationConfig, SenderConfig};
use crate::drive::FRAMES_AT_ONCE;
use crate::error::EmulationError;
use crate::hosts::{Places, packet_bytes};
use crate::inbox::Inbox;
use crate::load::UDP_FRAME_HEADERS;
use crate::namespace::TapDevice;
use crate::port::LARGEST_FRAME;
use crate::processors::Processors;

/// How long frames are copied to see how fast that is (our choice: thousands of copies).
const TRIAL: Duration = Duration::from_millis(10);

/// How often that is tried; the best trial counts, because another process may disturb one (our choice).
const TRIALS: usize = 4;

/// The port of the discard protocol (RFC 863).
const DISCARD: u16 = 9;

/// The share of bare copies that a run may need where hosts have kernels; our choice. Eight hosts that
/// received 100 Mb/s each, 0.3 of the copies of a machine with two processors, had frames late by 0.4 to
/// 0.8 ms (99th percentile); with 200 Mb/s frames came late by milliseconds.
const SHARE_OF_KERNELS: f64 = 1.0 / 3.0;

/// The share where all hosts are ours; our choice. Eight hosts that received 200 Mb/s each had frames late by
/// 25 us (99th percentile) on the same machine, at 0.6 of the copies.
const SHARE_OF_OURS: f64 = 0.6;

/// Frames for each frame with data: half an acknowledgement, as Linux acknowledges every other segment
/// (RFC 1122, sec. 4.2.3.2); our hosts acknowledge each.
const PER_DATA: [f64; 2] = [1.5, 2.0];

/// By how much the scale of time that is named is larger than what the trial asks for, because the next trial
/// may find the machine slower. Our choice: two trials of a busy machine were a quarter apart.
const MARGIN: f64 = 1.25;

/// Frames with data that a run may carry in a second of the machine: at each host as much as its link
/// carries, or as its flows bring while the traffic lasts.
pub(crate) fn demand(
    scenario: &Scenario,
    config: &EmulationConfig,
    topology: &Topology,
    flows: &[LiveFlow],
) -> f64 {
    let seconds = scenario.duration.as_ns_f64() / 1e9;
    let mut bits = vec![0.0; topology.hosts as usize];
    let is_kernel = |host: u32| config.kernels.binary_search(&host).is_ok();
    for LiveFlow { arrival, .. } in flows {
        let sender = &config.senders[usize::from(arrival.label)];
        bits[arrival.destination as usize] += match (arrival.size, sender) {
            (0, SenderConfig::Udp { rate }) if is_kernel(arrival.source) => rate.as_bps() as f64,
            (0, _) => f64::INFINITY,
            (size, _) => size as f64 * 8.0 / seconds,
        };
    }
    let most = (0..topology.hosts).map(|host| {
        let edge = topology.edge_switch(host);
        let cable = match is_kernel(host) {
            true => topology.links[topology.egress_links(edge)[0] as usize].reverse,
            false => topology.downlink(host),
        };
        topology.links[cable as usize].rate.as_bps() as f64
    });
    let carried: f64 = bits.iter().zip(most).map(|(&bits, most)| bits.min(most)).sum();
    carried / (8.0 * scenario.full_packet().get() as f64) / f64::from(config.scale_time)
}

/// Refuses a run that needs `demand` frames with data a second (of the machine), where the machine cannot
/// forward so many.
///
/// # Errors
/// [`EmulationError::TooFast`], with the scale of time that would do.
pub(crate) fn check(
    scenario: &Scenario,
    config: &EmulationConfig,
    places: &mut Places,
    processors: Option<&Processors>,
    demand: f64,
) -> Result<f64, EmulationError> {
    let copies = copies(packet_bytes(scenario) as usize, config, places, processors)?;
    let (share, per_data) = match config.kernels.is_empty() {
        true => (SHARE_OF_OURS, PER_DATA[1]),
        false => (SHARE_OF_KERNELS, PER_DATA[0]),
    };
    let (needed, possible) = (demand * per_data, copies * share);
    if needed > possible && !config.is_forced {
        let scale_time = rounded_up(f64::from(config.scale_time) * MARGIN * needed / possible);
        return Err(EmulationError::TooFast { needed, possible, scale_time });
    }
    Ok(copies)
}

/// The next larger number with two digits and zeros.
fn rounded_up(number: f64) -> u32 {
    let step = 10_f64.powf((number.log10().floor() - 1.0).max(0.0));
    ((number / step).ceil() * step) as u32
}

/// How many frames of `bytes` a second this machine copies from the device of host 0 to that of host 1; both
/// are as the first host is.
fn copies(
    bytes: usize,
    config: &EmulationConfig,
    places: &mut Places,
    processors: Option<&Processors>,
) -> Result<f64, EmulationError> {
    let Places { hosts, taps, sockets } = places;
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let copied = match sockets.get(&0) {
        None => {
            let destination = address::ipv4_of(1).unwrap_or(Ipv4Addr::UNSPECIFIED);
            let sender =
                hosts[0].thread("trial", move || send_datagrams(destination, bytes, &flag))?;
            let copied = copy(taps, processors);
            stop.store(true, Ordering::Relaxed);
            sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            copied
        }
        Some(socket) => thread::scope(|scope| {
            scope.spawn(|| {
                let frame = vec![0; bytes];
                while !flag.load(Ordering::Relaxed) {
                    // What finds no room is not sent.
                    let _ = socket.send(&frame);
                }
            });
            let copied = copy(taps, processors);
            stop.store(true, Ordering::Relaxed);
            copied
        }),
    };
    drain(places, config)?;
    Ok(copied?)
}

/// Sends datagrams in frames of `bytes` that nobody wants, until `stop` is set.
fn send_datagrams(destination: Ipv4Addr, bytes: usize, stop: &AtomicBool) {
    let payload = vec![0; bytes.saturating_sub(UDP_FRAME_HEADERS)];
    let Ok(socket) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)) else { return };
    while !stop.load(Ordering::Relaxed) {
        // What finds no room is not sent.
        let _ = socket.send_to(&payload, (destination, DISCARD));
    }
}

/// Copies frames from the first device to the second for [`TRIAL`], several times, and reads them as
/// the drive does; answers how many a second in the best trial.
fn copy(taps: &mut [TapDevice], processors: Option<&Processors>) -> io::Result<f64> {
    processors.into_iter().for_each(Processors::for_network);
    let (mut inbox, mut best) = (Inbox::new(taps), 0.0);
    for _ in 0..TRIALS {
        let (mut copied, start) = (0u32, Instant::now());
        while start.elapsed() < TRIAL {
            let mut read = 0;
            while read < FRAMES_AT_ONCE {
                let asked = inbox.read((0, &mut taps[0]), read, FRAMES_AT_ONCE)?;
                let before = read;
                for frame in inbox.frames() {
                    taps[1].send(frame?)?;
                    read += 1;
                }
                if read < before + asked {
                    break;
                }
            }
            copied += read as u32;
        }
        best = f64::max(best, f64::from(copied) / start.elapsed().as_secs_f64());
    }
    processors.into_iter().for_each(Processors::leave_to_network);
    Ok(best)
}

/// Reads and drops what the trial has left in the devices.
fn drain(places: &Places, config: &EmulationConfig) -> io::Result<()> {
    let mut buffer = vec![0; LARGEST_FRAME];
    for tap in &places.taps {
        while tap.receive(&mut buffer)?.is_some() {}
    }
    let is_ours = |host: &u32| config.kernels.binary_search(host).is_err();
    for socket in (0..).filter(is_ours).map_while(|host| places.sockets.get(&host)) {
        while socket.receive(&mut buffer)?.is_some() {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_two_digits_and_are_never_too_small() {
        assert_eq!([0.3, 1.0, 9.1, 12.0, 99.5].map(rounded_up), [1, 1, 10, 12, 100]);
        assert_eq!([101.0, 4_366.1, 4_400.0].map(rounded_up), [110, 4_400, 4_400]);
        assert_eq!(rounded_up(1e12), u32::MAX);
    }
}
