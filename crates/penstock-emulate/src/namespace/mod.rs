//! Where the emulator's hosts live: namespaces that a worker process makes for itself, without
//! root.
//!
//! [`enter`] moves a process with one thread into namespaces of its own. There it makes one
//! [`HostNamespace`] for each host: a network namespace whose only interface beside `lo` is a TAP
//! device. The worker holds the other end of each device, a [`TapDevice`]; what the worker does
//! between them is the network. No route leads anywhere else.
//!
//! In a namespace lives either the kernel's TCP/IP with any program ([`HostNamespace::spawn`]), or
//! a host of ours that speaks through a [`PacketSocket`].
//!
//! ```no_run
//! use penstock_emulate::namespace::{HostSettings, KernelStack, Stack, enter};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let namespaces = enter()?;
//! let (host, device) = namespaces.host(&HostSettings {
//!     name: "h1".into(),
//!     mac: [2, 0, 0, 0, 0, 1],
//!     mtu: 1_500,
//!     queue_frames: 1_000,
//!     stack: Stack::Kernel(KernelStack {
//!         addresses: vec!["10.0.0.1".parse()?],
//!         neighbours: vec![("10.0.0.2".parse()?, [2, 0, 0, 0, 0, 2])],
//!         ..KernelStack::default()
//!     }),
//! })?;
//! namespaces.drop_privileges([&host])?;
//! let listener = host.run(|| std::net::TcpListener::bind("10.0.0.1:80"))?;
//! let mut frame = [0; 1_518];
//! let length = device.receive(&mut frame)?;
//! # Ok(())
//! # }
//! ```
//!
//! Nothing outside changes, and nothing stays behind: no file is written, devices and namespaces
//! have no name outside and end with their last user, and the PID namespace takes every process
//! with it (`guardian.rs`).
//!
//! Namespaces keep frames in; they do not confine programs otherwise. A program has the rights of
//! the user who started the worker, and sees that user's files.

mod entry;
mod error;
mod forbidden;
mod guardian;
mod host;
mod interface;
mod packet;
mod privilege;
mod program;
mod settings;
mod sysctl;
mod tap;

pub use entry::{Namespaces, enter};
pub use error::NamespaceError;
pub use host::{HostNamespace, INTERFACE};
pub use interface::Counters;
pub use packet::PacketSocket;
pub use program::{Program, ProgramEnd, ProgramSettings};
pub use settings::{Ecn, HostSettings, KernelStack, MOST_QUEUE_FRAMES, MacAddress, Stack};
pub use tap::TapDevice;
