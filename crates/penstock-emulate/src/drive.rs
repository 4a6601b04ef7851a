//! The loop that drives parts of a network by the clock: frames in, everything that is due, frames out.
//!
//! Inside a part, things happen at the times at which they are due: a link inside the network keeps its
//! rate to the picosecond, also when the loop comes late. What the loop's lateness changes is when frames
//! leave a device, and so when the other end hears of them. That lateness is measured.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use penstock_packet::{Observer, Packet};
use penstock_sim::live::{Leaving, Part};
use penstock_sim::measure::histogram::LogHistogram;
use penstock_units::{HopTelemetry, Time};
use penstock_wire::pcapng::Direction;
use rustix::event::{Timespec, epoll};

use crate::clock::Clock;
use crate::device::Device;
use crate::error::DriveError;
use crate::inbox::Inbox;
use crate::port::Port;

/// So many frames are read from a device before others are served (our choice: a burst of a host's kernel
/// is at most 64 kB, 44 frames).
pub(crate) const FRAMES_AT_ONCE: usize = 64;

/// So many ports are served before what is due is looked at again (our choice).
const PORTS_AT_ONCE: usize = 32;

/// The loop does not sleep when something is due within this time, because a sleeper wakes up late: by half a
/// millisecond (median) on a virtual machine that has nothing else to do (real time; our choice).
const AWAKE: Time = Time::from_ms(2);

/// The loop does not sleep so soon after a frame has come, because then the next one comes soon, and a
/// sleeper would keep it waiting (real time; our choice: hosts under PFC wait for so long for the end of a
/// pause). Beside a 16-to-1 incast under PFC a frame in a hundred of the hosts was late by 1 to 3 ms, and is
/// late by 60 us.
const AWAKE_AFTER_FRAME: Time = Time::from_ms(20);

/// The longest sleep (real time; our choice: so soon a stop is obeyed).
const LONGEST_SLEEP: Time = Time::from_ms(10);

/// Hears of packets that enter a part, before they do, and of frames.
pub trait Recorder {
    /// A packet enters by `link` and has arrived at `arrival`.
    fn enters(&mut self, link: u32, arrival: Time, packet: &Packet, telemetry: &[HopTelemetry]);

    /// A frame of `host` was read, or one for it was written, `now`; it may be one that is not let in.
    fn frame(&mut self, _host: u32, _direction: Direction, _now: Time, _frame: &[u8]) {}
}

impl Recorder for () {
    fn enters(&mut self, _: u32, _: Time, _: &Packet, _: &[HopTelemetry]) {}
}

/// Parts of a network, the ports that lead to others, and their devices.
pub struct Drive<O, D, R> {
    clock: Clock,
    parts: Vec<Part<O>>,
    ports: Vec<Port>,
    devices: Vec<D>,
    /// By link: the port that sends by it, or `usize::MAX`.
    by_link: Vec<usize>,
    /// By part: the host that it is, if it is one.
    hosts: Vec<Option<u32>>,
    /// How late frames left: real time (ns).
    lateness: LogHistogram,
    recorder: R,
    epoll: OwnedFd,
    /// The ports at which frames wait to be read.
    ready: Vec<usize>,
    /// When frames have last waited somewhere.
    heard: Time,
    /// By place of a packet in the first part: the frame of a kernel.
    frames: Vec<Vec<u8>>,
    /// Memory for frames.
    spare: Vec<Vec<u8>>,
    telemetry: Vec<HopTelemetry>,
}

impl<O: Observer, D: Device, R: Recorder> Drive<O, D, R> {
    /// A drive of `parts`, each of which may be a host, by `clock`. Each port comes with its device and the
    /// link by which it sends. A network has `links` links.
    ///
    /// # Errors
    /// When the system has no more file descriptors.
    pub fn new(
        clock: Clock,
        parts: Vec<(Part<O>, Option<u32>)>,
        ports: Vec<(Port, D, u32)>,
        links: usize,
        recorder: R,
    ) -> Result<Self, DriveError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut by_link = vec![usize::MAX; links];
        let (mut own, mut devices) = (Vec::new(), Vec::new());
        for (number, (port, device, out)) in ports.into_iter().enumerate() {
            let data = epoll::EventData::new_u64(number as u64);
            epoll::add(&epoll, device.as_fd(), data, epoll::EventFlags::IN)?;
            by_link[out as usize] = number;
            own.push(port);
            devices.push(device);
        }
        let (parts, hosts) = parts.into_iter().unzip();
        Ok(Drive {
            clock,
            parts,
            ready: Vec::with_capacity(PORTS_AT_ONCE),
            heard: Time::ZERO,
            ports: own,
            devices,
            by_link,
            hosts,
            lateness: LogHistogram::default(),
            recorder,
            epoll,
            frames: Vec::new(),
            spare: Vec::new(),
            telemetry: Vec::new(),
        })
    }

    /// Whether there is anything to drive.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The parts, the ports and what was measured, when the drive is over.
    pub fn into_parts(self) -> (Vec<Part<O>>, Vec<Port>, LogHistogram, R) {
        (self.parts, self.ports, self.lateness, self.recorder)
    }

    /// The parts, for who looks at them while the drive goes on.
    pub fn parts(&self) -> &[Part<O>] {
        &self.parts
    }

    /// Whether data is stored in a part, or waits at a port until it is due.
    pub fn stores_data(&self) -> bool {
        self.parts.iter().any(Part::stores_data)
            || self.ports.iter().any(|port| !port.waiting.is_empty())
    }

    /// The ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// How late frames have left so far: real time (ns).
    pub fn lateness(&self) -> &LogHistogram {
        &self.lateness
    }

    /// The devices, in the order of the ports.
    pub fn take_devices(&mut self) -> Vec<D> {
        std::mem::take(&mut self.devices)
    }

    /// Drives until `end`, or until `stop` is set.
    ///
    /// # Errors
    /// When time stands still, or a device is gone.
    pub fn run(&mut self, end: Time, stop: &AtomicBool) -> Result<(), DriveError> {
        self.run_while(end, stop, |_| true)
    }

    /// As [`Drive::run`], as long as `goes_on` says so. It is asked in every turn of the loop.
    ///
    /// # Errors
    /// Those of [`Drive::run`].
    pub fn run_while(
        &mut self,
        end: Time,
        stop: &AtomicBool,
        mut goes_on: impl FnMut(&Self) -> bool,
    ) -> Result<(), DriveError> {
        let mut inbox = Inbox::new(&self.devices);
        while !stop.load(Ordering::Relaxed) && goes_on(self) {
            let now = self.clock.now();
            if now >= end {
                break;
            }
            for number in 0..self.ready.len() {
                self.receive(self.ready[number], &mut inbox)?;
            }
            self.advance(now)?;
            self.send()?;
            self.wait(end)?;
        }
        Ok(())
    }

    /// Reads what has come to the device of a port.
    fn receive(&mut self, number: usize, inbox: &mut Inbox) -> Result<(), DriveError> {
        let mut read = 0;
        while read < FRAMES_AT_ONCE {
            let device = (number, &mut self.devices[number]);
            let asked = inbox.read(device, read, FRAMES_AT_ONCE);
            let asked = asked.map_err(|error| self.ports[number].gone(error))?;
            let come = self.take_in(number, inbox)?;
            if come < asked {
                break;
            }
            read += come;
        }
        Ok(())
    }

    /// Lets the frames that were read last from the device of a port into its part; answers how many.
    fn take_in(&mut self, number: usize, inbox: &Inbox) -> Result<usize, DriveError> {
        let Drive { clock, parts, ports, frames, spare, telemetry, recorder, .. } = self;
        let (port, instant) = (&mut ports[number], Time::from_ps(1));
        let part = &mut parts[port.part];
        let mut come = 0;
        // After what has happened already: so the order of events follows from their times alone.
        let mut next = clock.now().max(part.now() + instant);
        for frame in inbox.frames() {
            let frame = frame.map_err(|error| port.gone(error))?;
            let now = next;
            next = now + instant;
            come += 1;
            recorder.frame(port.host(), Direction::Inbound, now, frame);
            port.received_bytes += frame.len() as u64;
            if port.is_kernel() {
                let Some(mut packet) = port.read_kernel(frame) else { continue };
                let arrival = port.arrival(now, packet.wire_bytes);
                packet.sent_at = arrival;
                recorder.enters(port.into, arrival, &packet, &[]);
                let place = part.receive_stranger(port.into, arrival, &packet);
                if frames.len() <= place {
                    frames.resize_with(place + 1, Vec::new);
                }
                if frames[place].capacity() == 0 {
                    frames[place] = spare.pop().unwrap_or_default();
                }
                frames[place].clear();
                frames[place].extend_from_slice(frame);
            } else {
                let Some(packet) = port.read_ours(frame, telemetry) else { continue };
                let arrival = port.arrival(now, packet.wire_bytes);
                recorder.enters(port.into, arrival, &packet, telemetry);
                part.receive(port.into, arrival, &packet, telemetry);
            }
        }
        Ok(come)
    }

    /// Everything that is due until `now` happens.
    fn advance(&mut self, now: Time) -> Result<(), DriveError> {
        let Drive { parts, ports, by_link, frames, spare, hosts, .. } = self;
        let mut completed = Vec::new();
        for part in parts.iter_mut() {
            part.advance_to(now)?;
            let mut outcome = Ok(());
            part.take_leaving(|leaving| match leaving {
                Leaving::Packet { link, arrival, packet, telemetry } => {
                    let port = &mut ports[by_link[link as usize]];
                    if !port.has_frame_for(packet) {
                        return;
                    }
                    let bytes = match port.is_kernel() {
                        true => frames.get_mut(packet.offset as usize).map(std::mem::take),
                        false => spare.pop(),
                    };
                    let sent = port.send(arrival, packet, telemetry, bytes.unwrap_or_default());
                    outcome = outcome.and(sent);
                }
                Leaving::Completed { host, hash } => completed.push((host, hash)),
            });
            outcome?;
        }
        for (host, hash) in completed {
            if let Some(part) = hosts.iter().position(|&other| other == Some(host)) {
                parts[part].close(hash);
            }
        }
        Ok(())
    }

    /// Sends the frames that are due.
    fn send(&mut self) -> Result<(), DriveError> {
        for (port, device) in self.ports.iter_mut().zip(&mut self.devices) {
            while let Some(waiting) = port.waiting.front() {
                let now = self.clock.now();
                if waiting.due > now {
                    break;
                }
                if !device.send(&waiting.bytes).map_err(|error| port.gone(error))? {
                    break;
                }
                self.recorder.frame(port.host(), Direction::Outbound, now, &waiting.bytes);
                let late = self.clock.in_real(now - waiting.due);
                self.lateness.record(late.as_ps() / 1_000);
                port.sent += 1;
                port.sent_bytes += waiting.bytes.len() as u64;
                self.spare.extend(port.waiting.pop_front().map(|sent| sent.bytes));
            }
        }
        Ok(())
    }

    /// Waits for the next frame, or until something is due.
    fn wait(&mut self, end: Time) -> Result<(), DriveError> {
        let due = self.parts.iter().filter_map(Part::due);
        let waiting = self.ports.iter().filter_map(|port| Some(port.waiting.front()?.due));
        let next = due.chain(waiting).min().unwrap_or(end).min(end);
        let now = self.clock.now();
        let left = self.clock.in_real(next.saturating_sub(now));
        let has_come = self.clock.in_real(now - self.heard) < AWAKE_AFTER_FRAME;
        let sleep = match left > AWAKE && !has_come {
            true => (left - AWAKE).min(LONGEST_SLEEP),
            false => Time::ZERO,
        };
        let sleep = Timespec { tv_sec: 0, tv_nsec: (sleep.as_ps() / 1_000) as i64 };
        self.ready.clear();
        let mut events = [const { MaybeUninit::uninit() }; PORTS_AT_ONCE];
        match epoll::wait(&self.epoll, &mut events, Some(&sleep)) {
            Ok((events, _)) => {
                self.ready.extend(events.iter().map(|event| event.data.u64() as usize));
                if !self.ready.is_empty() {
                    self.heard = now;
                }
                Ok(())
            }
            Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
