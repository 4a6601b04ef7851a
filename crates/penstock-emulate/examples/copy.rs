//! How fast one thread carries frames from one TAP device to another, and does nothing else.
//!
//! A host of ours sends as fast as it can through a packet socket. The main thread reads each frame
//! and writes it to the device of a second host, whose kernel drops it. This is the most that a
//! switch on one thread can reach here; what the switch does comes on top.
//!
//! `cargo run --release -p penstock-emulate --example copy -- SECONDS`

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use penstock_emulate::namespace::{
    HostNamespace, HostSettings, PacketSocket, Stack, TapDevice, enter,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Bytes of a frame: the shortest of Ethernet and a long one, each without frame check sequence.
const FRAME_BYTES: [usize; 3] = [60, 64, 1_500];

/// An experimental EtherType, which no kernel handles (IEEE 802, 9.2.4).
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];

/// The shortest time that is measured (s) where none is given.
const SECONDS: f64 = 3.0;

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(SECONDS), |text| text.parse())?;
    let namespaces = enter()?;
    let host = |number: u8| {
        namespaces.host(&HostSettings {
            name: format!("h{number}"),
            mac: [2, 0, 0, 0, 0, number],
            mtu: 1_500,
            queue_frames: 1_000,
            stack: Stack::Packets,
        })
    };
    let (from, to) = (host(1)?, host(2)?);
    println!(
        "frame [B]  frames/s  ns/frame of the copying thread's time  its share of a processor"
    );
    for bytes in FRAME_BYTES {
        let socket = from.0.packet_socket()?;
        let row = measure(&from, &to.1, socket, bytes, Duration::from_secs_f64(seconds))?;
        println!("{bytes:>9}  {:>8.0}  {:>8.0}  {:.2}", row.rate, row.nanoseconds, row.share);
    }
    namespaces.drop_privileges([&from.0, &to.0])?;
    Ok(())
}

/// What was measured with one length of frames.
struct Row {
    /// Frames per second.
    rate: f64,
    /// Processor time of the copying thread for each frame (ns).
    nanoseconds: f64,
    /// Processor time of the copying thread in each second (s).
    share: f64,
}

fn measure(
    from: &(HostNamespace, TapDevice),
    to: &TapDevice,
    socket: PacketSocket,
    bytes: usize,
    time: Duration,
) -> Result<Row, Box<dyn Error>> {
    let over = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&over);
    let mut frame = vec![0; bytes];
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&ETHER_TYPE);
    let sender = from.0.thread("sender", move || -> std::io::Result<()> {
        while !end.load(Ordering::Relaxed) {
            if !socket.send(&frame)? {
                std::thread::yield_now();
            }
        }
        Ok(())
    })?;
    let (begun, busy_before) = (Instant::now(), busy_nanoseconds()?);
    let mut buffer = [0; 2_000];
    let mut copied = 0u64;
    let soon = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    while begun.elapsed() < time {
        poll(&mut [PollFd::new(&from.1, PollFlags::IN)], Some(&soon))?;
        while let Some(length) = from.1.receive(&mut buffer)? {
            to.send(&buffer[..length])?;
            copied += 1;
            if copied.is_multiple_of(1_024) && begun.elapsed() >= time {
                break;
            }
        }
    }
    let (elapsed, busy) = (begun.elapsed().as_secs_f64(), busy_nanoseconds()? - busy_before);
    over.store(true, Ordering::Relaxed);
    sender.join().map_err(|_| "the sender panicked")??;
    while from.1.receive(&mut buffer)?.is_some() {}
    Ok(Row {
        rate: copied as f64 / elapsed,
        nanoseconds: busy / copied as f64,
        share: busy / elapsed / 1e9,
    })
}

/// Processor time of the calling thread (ns), the first field of its `schedstat` (proc(5)).
fn busy_nanoseconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().unwrap_or_default().parse()?)
}
