//! A host's network namespace, and the thread that lives in it.

use std::any::Any;
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use netlink_packet_route::link::LinkFlags;
use rustix::thread::UnshareFlags;

use super::error::{Doing, NamespaceError};
use super::interface::{Counters, Interfaces, attributes};
use super::packet::PacketSocket;
use super::privilege::is_privileged;
use super::program::{Program, ProgramSettings};
use super::settings::{HostSettings, KernelStack, MOST_QUEUE_FRAMES, Stack};
use super::sysctl;
use super::tap::TapDevice;
use crate::system;

/// The name of a host's interface: our choice, the name that programs and manuals expect.
pub const INTERFACE: &str = "eth0";

/// The number of the loopback interface: the kernel makes it first in each network namespace.
const LOOPBACK: u32 = 1;

/// The port to which a socket is connected to see whether a route exists; nothing is sent (RFC
/// 863).
const DISCARD_PORT: u16 = 9;

/// How often, and how long, a host waits for the route to its own address: our choice. The kernel
/// needs about a millisecond, and more on a busy machine.
const ROUTE_PAUSE: Duration = Duration::from_micros(200);
const ROUTE_PATIENCE: Duration = Duration::from_secs(10);

/// Something to be done on the thread of a host.
type Job = Box<dyn FnOnce() + Send>;

/// A network namespace with one interface, [`INTERFACE`], beside `lo`, and a thread in it.
///
/// The namespace lives as long as one of these: this value, a thread or program started through it,
/// a socket made in it, its [`TapDevice`].
#[derive(Debug)]
pub struct HostNamespace {
    name: String,
    interface: u32,
    /// None once the thread should end.
    jobs: Option<Sender<Job>>,
    /// None once the thread has been waited for.
    thread: Option<JoinHandle<()>>,
}

impl HostNamespace {
    /// Makes a network namespace, with a TAP device and a thread.
    pub(super) fn create(settings: &HostSettings) -> Result<(Self, TapDevice), NamespaceError> {
        let name = settings.name.clone();
        let (jobs, queue) = channel();
        let thread = Builder::new()
            .name(thread_name(&name))
            .spawn(move || work(&queue))
            .doing(|| format!("start the thread of host {name}"))?;
        let mut host = Self { name, interface: 0, jobs: Some(jobs), thread: Some(thread) };
        let settings = settings.clone();
        let (interface, device) = host.run(move || set_up(&settings))?;
        host.interface = interface;
        Ok((host, device))
    }

    /// The name of the host.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs `work` on the thread of this host, and returns its result: sockets that it makes are in
    /// this namespace.
    ///
    /// The thread does one thing at a time, so `work` should be short; what lasts gets a
    /// [`thread`](Self::thread) of its own. `work` must not call `run` of the same host: it would
    /// wait for itself. A panic of `work` goes on in the caller.
    pub fn run<R: Send + 'static>(&self, work: impl FnOnce() -> R + Send + 'static) -> R {
        let (answer, answered) = channel::<Result<R, Box<dyn Any + Send>>>();
        let job: Job = Box::new(move || {
            // The caller waits, so that its end is open.
            let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
        });
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        debug_assert!(matches!(sent, Some(Ok(()))), "the thread ends after this value");
        match answered.recv() {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => unreachable!("the thread catches panics, and ends after this value"),
        }
    }

    /// Starts a thread in this namespace, without the capabilities that were dropped before.
    ///
    /// # Errors
    ///
    /// The system has no room for a thread.
    pub fn thread<R: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<JoinHandle<R>, NamespaceError> {
        let builder = Builder::new().name(thread_name(name));
        self.run(|| builder.spawn(work))
            .doing(|| format!("start thread {name} of host {}", self.name))
    }

    /// Starts a program in this namespace.
    ///
    /// # Errors
    ///
    /// - [`NamespaceError::NotYetDropped`]: the program would have capabilities.
    /// - [`NamespaceError::System`]: the program does not exist or cannot be run.
    pub fn spawn(&self, settings: ProgramSettings) -> Result<Program, NamespaceError> {
        let what = format!("start {} on host {}", settings.program.display(), self.name);
        if self.run(is_privileged).doing(|| what.clone())? {
            return Err(NamespaceError::NotYetDropped);
        }
        self.run(move || Program::start(settings)).doing(|| what)
    }

    /// Opens a packet socket at the host's interface. It needs the capabilities that are dropped
    /// later.
    ///
    /// # Errors
    ///
    /// The kernel refuses it, as after [`drop_privileges`](super::Namespaces::drop_privileges).
    pub fn packet_socket(&self) -> Result<PacketSocket, NamespaceError> {
        let interface = self.interface;
        self.run(move || PacketSocket::open(interface))
            .doing(|| format!("open a packet socket on host {}", self.name))
    }

    /// What the host's interface has carried and dropped so far.
    ///
    /// # Errors
    ///
    /// The interface is gone: its [`TapDevice`] was dropped.
    pub fn counters(&self) -> Result<Counters, NamespaceError> {
        let interface = self.interface;
        self.run(move || Interfaces::new()?.counters(interface))
            .doing(|| format!("read the counters of host {}", self.name))
    }
}

impl Drop for HostNamespace {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // Jobs catch their own panics, so that the thread has none to tell.
            let _ = thread.join();
        }
    }
}

/// A name that a thread can have: without zero bytes.
fn thread_name(name: &str) -> String {
    name.replace('\0', "")
}

/// The life of a host's thread.
fn work(queue: &Receiver<Job>) {
    while let Ok(job) = queue.recv() {
        job();
    }
}

/// On the thread of a host: makes its namespace and all that is in it. The number of the interface,
/// and the other end.
fn set_up(settings: &HostSettings) -> Result<(u32, TapDevice), NamespaceError> {
    let host = &settings.name;
    if !(1..=MOST_QUEUE_FRAMES).contains(&settings.queue_frames) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput)).doing(|| {
            let frames = settings.queue_frames;
            format!("give host {host} a queue of {frames} frames (1 to {MOST_QUEUE_FRAMES})")
        });
    }
    system::enter_new_namespaces(UnshareFlags::NEWNET)
        .doing(|| format!("make the network namespace of host {host}"))?;
    let kernel = match &settings.stack {
        Stack::Kernel(kernel) => Some(kernel),
        Stack::Packets => None,
    };
    let has_ipv6 = kernel.is_some_and(|kernel| kernel.addresses.iter().any(IpAddr::is_ipv6));
    sysctl::quieten_ipv6(has_ipv6)?;
    let device =
        TapDevice::create(INTERFACE).doing(|| format!("make the TAP device of host {host}"))?;
    let interface = interface_number().doing(|| format!("find {INTERFACE} of host {host}"))?;
    let mut interfaces = Interfaces::new().doing(|| "open a netlink socket".into())?;
    interfaces
        .set(interface, attributes(settings.mac, settings.mtu, settings.queue_frames))
        .and_then(|()| interfaces.bring_up(interface, LinkFlags::Noarp))
        .doing(|| {
            let (mac, mtu) = (settings.mac, settings.mtu);
            format!(
                "set MAC address {mac:02x?} and MTU {mtu} of host {host}, and bring {INTERFACE} up"
            )
        })?;
    if let Some(kernel) = kernel {
        interfaces
            .bring_up(LOOPBACK, LinkFlags::empty())
            .doing(|| format!("bring lo of host {host} up"))?;
        set_up_kernel(host, kernel, interface, &mut interfaces)?;
    }
    Ok((interface, device))
}

/// The part of a namespace that only hosts with the kernel's TCP/IP have.
fn set_up_kernel(
    host: &str,
    kernel: &KernelStack,
    interface: u32,
    interfaces: &mut Interfaces,
) -> Result<(), NamespaceError> {
    let of_routes = sysctl::set_tcp(host, kernel)?;
    for &address in &kernel.addresses {
        interfaces
            .add_address(interface, address)
            .and_then(|()| wait_until_local(address))
            .doing(|| format!("give host {host} the address {address}"))?;
    }
    for &(address, mac) in &kernel.neighbours {
        interfaces
            .add_neighbour(interface, address, mac)
            .and_then(|()| interfaces.add_route(interface, address, of_routes))
            .doing(|| format!("tell host {host} its neighbour {address}"))?;
    }
    Ok(())
}

/// Waits until the kernel takes packets to this address for its own. For an IPv6 address it makes
/// that route later, in a thread of its own; a packet that comes before is refused ("no route").
fn wait_until_local(address: IpAddr) -> io::Result<()> {
    let begun = Instant::now();
    let socket = UdpSocket::bind((address, 0))?;
    loop {
        match socket.connect((address, DISCARD_PORT)) {
            Err(error) if begun.elapsed() > ROUTE_PATIENCE => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::NetworkUnreachable => sleep(ROUTE_PAUSE),
            other => return other,
        }
    }
}

/// The number of [`INTERFACE`] in the network namespace of the calling thread.
fn interface_number() -> io::Result<u32> {
    use rustix::net::{AddressFamily, SocketType, netdevice::name_to_index};
    let any = rustix::net::socket(AddressFamily::UNIX, SocketType::DGRAM, None)?;
    Ok(name_to_index(any, INTERFACE)?)
}
