//! The kernel's bridge, between the ends of two pairs of virtual Ethernet devices.
//!
//! The kernel forwards on the thread that sends. So the time of a frame is that of the sending thread, less
//! that of a frame that a full TAP device drops: making a frame costs as much there, and nobody forwards it.

use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use penstock_emulate::namespace::PacketSocket;
use penstock_wire::address;
use penstock_wire::ethernet::SHORTEST_FRAME;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType};

use crate::sending::Frames;
use crate::stopwatch::{Measured, Stopwatch};

/// So many frames are sent before the time is looked at (our choice: as many as the emulator's loop reads).
const FRAMES_AT_ONCE: usize = 64;

/// What makes the bridge and its devices (ip(8)); `in` and `out` are the hosts' ends.
const COMMANDS: [&str; 8] = [
    "link add name bridge type bridge",
    "link add name in type veth peer name bridge-in",
    "link add name out type veth peer name bridge-out",
    "link set bridge-in master bridge up",
    "link set bridge-out master bridge up",
    "link set bridge up",
    "link set in up",
    "link set out up",
];

/// A bridge between two devices, and who sends to it.
pub struct Bridge {
    /// At the first device.
    into: PacketSocket,
    /// At a TAP device that nobody reads meanwhile.
    nowhere: Arc<PacketSocket>,
}

impl Bridge {
    /// Makes a bridge in the network namespace of this thread.
    pub fn create(nowhere: Arc<PacketSocket>) -> Result<Self, Box<dyn Error>> {
        for command in COMMANDS {
            match Command::new("ip").args(command.split(' ')).status() {
                Ok(status) if status.success() => {}
                Ok(status) => return Err(format!("ip {command}: {status}").into()),
                Err(error) => {
                    return Err(format!("ip {command}: {error}; install iproute2").into());
                }
            }
        }
        let any = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
        let open = |name| {
            let number = name_to_index(&any, name)?;
            PacketSocket::open(number).map_err(Box::<dyn Error>::from)
        };
        let (into, out) = (open("in")?, open("out")?);
        // The bridge learns from this frame where host 1 is.
        let [to, from] = [0, 1].map(|host| address::mac_of(host).map_or([0; 6], |mac| mac.0));
        let mut hello = [to, from].concat();
        hello.extend(penstock_wire::EtherType::PENSTOCK.0.to_be_bytes());
        hello.resize(SHORTEST_FRAME, 0);
        out.send(&hello)?;
        Ok(Bridge { into, nowhere })
    }

    /// Sends `frames` in turn for `time`, by the bridge and then to nowhere.
    pub fn measure(&self, frames: &Frames, time: Duration) -> Result<Measured, Box<dyn Error>> {
        let before = arrived()?;
        let (bridged, sent) = send(&self.into, frames, time)?;
        let arrived = arrived()? - before;
        if arrived < sent {
            return Err(format!("the bridge forwarded {arrived} of {sent} frames").into());
        }
        let (nowhere, _) = send(&self.nowhere, frames, time)?;
        Ok(Measured { nanoseconds: bridged.nanoseconds - nowhere.nanoseconds, ..bridged })
    }
}

/// Sends `frames` in turn for `time`; what was measured, and how many were sent in all.
fn send(
    socket: &PacketSocket,
    frames: &Frames,
    time: Duration,
) -> Result<(Measured, u64), Box<dyn Error>> {
    let (mut stopwatch, mut in_turn, mut sent) = (Stopwatch::new(time), frames.in_turn(), 0);
    loop {
        for frame in in_turn.by_ref().take(FRAMES_AT_ONCE) {
            socket.send(frame)?;
            sent += 1;
        }
        if let Some(measured) = stopwatch.look(sent)? {
            return Ok((measured, sent));
        }
    }
}

/// Frames that have come out of the bridge so far (proc(5), `/proc/net/dev`: packets are the second number).
fn arrived() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let row = text.lines().find_map(|line| line.trim().strip_prefix("out:"));
    let packets = row.and_then(|row| row.split_whitespace().nth(1));
    Ok(packets.ok_or("the device of the bridge is gone")?.parse()?)
}
