//! Frames of many flows from host 0 to host 1, and the thread that sends them.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use penstock_emulate::namespace::{HostNamespace, PacketSocket, TapDevice};
use penstock_emulate::processors::Processors;
use penstock_packet::{Packet, PacketKind};
use penstock_wire::{LinkAddresses, address};

/// Flows that take turns; our choice, more than a BFC port has queues.
const FLOWS: u16 = 64;

/// The queue of the NIC of a host of ours from which all flows come: the first behind the control queue.
const QUEUE: u16 = 1;

/// Who makes the frames.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A host of ours.
    Ours,
    /// The kernel of a host: UDP datagrams.
    Kernel,
}

/// A frame of each flow.
pub struct Frames(Vec<Vec<u8>>);

impl Frames {
    /// Frames of `bytes` bytes, at least 60.
    pub fn new(sort: Sort, bytes: usize) -> Result<Self, Box<dyn Error>> {
        let frame = |flow| match sort {
            Sort::Ours => of_ours(flow, bytes),
            Sort::Kernel => of_kernel(flow, bytes),
        };
        Ok(Frames((0..FLOWS).map(frame).collect::<Result<_, _>>()?))
    }

    /// A frame of each flow in turn, without end.
    pub fn in_turn(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice).cycle()
    }

    /// Sends them from `host` until the sender is stopped, as fast as the device takes them.
    pub fn send_from(
        self,
        host: &HostNamespace,
        socket: &Arc<PacketSocket>,
    ) -> Result<Sender, Box<dyn Error>> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let socket = Arc::clone(socket);
        let thread = host.thread("sender", move || {
            // As hosts of a run do: the last processor is for the thread that forwards.
            Processors::split().iter().for_each(Processors::leave_to_network);
            for frame in self.in_turn() {
                while !socket.send(frame)? {
                    std::thread::yield_now();
                    if flag.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                }
                if flag.load(Ordering::Relaxed) {
                    break;
                }
            }
            Ok(())
        })?;
        Ok(Sender { stop, thread })
    }
}

/// A thread that sends.
pub struct Sender {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<()>>,
}

impl Sender {
    /// Ends it, and has its error.
    pub fn stop(self) -> Result<(), Box<dyn Error>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the sender panicked")??;
        Ok(())
    }
}

/// Reads and drops what waits in a device.
pub fn drain(tap: &TapDevice) -> io::Result<()> {
    let mut buffer = [0; 2_000];
    while tap.receive(&mut buffer)?.is_some() {}
    Ok(())
}

/// A data packet of a host of ours.
fn of_ours(flow: u16, bytes: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut packet = Packet {
        kind: PacketKind::Data,
        source: 0,
        destination: 1,
        flow_hash: u32::from(flow) + 1,
        remaining: u32::MAX,
        queue: QUEUE,
        wire_bytes: bytes as u16,
        ..Packet::default()
    };
    packet.payload =
        (bytes - penstock_wire::frame_bytes(&Packet { wire_bytes: 0, ..packet }, 0)) as u16;
    let mac = |host| address::mac_of(host).ok_or("a host has no address");
    let addresses = LinkAddresses { destination: mac(1)?, source: mac(0)? };
    let mut frame = vec![0; bytes];
    penstock_wire::write(&packet, &[], addresses, &mut frame)?;
    Ok(frame)
}

/// A datagram of IPv4 and UDP (RFC 791, RFC 768), without the checksum of UDP.
fn of_kernel(flow: u16, bytes: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    const ETHERNET: usize = 14;
    const IPV4: usize = 20;
    let mac = |host| address::mac_of(host).ok_or("a host has no address");
    let ip = |host| address::ipv4_of(host).ok_or("a host has no address");
    let mut frame = [mac(1)?.0, mac(0)?.0].concat();
    frame.extend([0x08, 0x00, 0x45, 0]);
    frame.extend(((bytes - ETHERNET) as u16).to_be_bytes());
    // Identification, no fragment, 64 hops, UDP, and a checksum that follows.
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    frame.extend(ip(0)?.octets());
    frame.extend(ip(1)?.octets());
    let sum: u32 = frame[ETHERNET..]
        .chunks_exact(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&checksum.to_be_bytes());
    frame.extend((10_000 + flow).to_be_bytes());
    frame.extend(9u16.to_be_bytes());
    frame.extend(((bytes - ETHERNET - IPV4) as u16).to_be_bytes());
    frame.resize(bytes, 0);
    Ok(frame)
}
