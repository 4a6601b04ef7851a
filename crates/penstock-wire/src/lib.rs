//! Real frames: bytes to headers, headers to packets, and back.
//!
//! What it is: the formats that the emulator sends and hears on devices. These are our own header
//! (`docs/wire.md`), IEEE 802.1Qbb pauses, and what the kernels of hosts write: Ethernet, VLAN tags,
//! IPv4, IPv6, UDP, TCP, RoCEv2. What it is not: this crate has no socket and no clock, and decides
//! nothing about a packet.
//! Invariant: no bytes make a function of this crate panic, and no frame costs an allocation.
//!
//! Each header has two views. The raw view (`RawUdp`) lies over the bytes of one header and reads or
//! writes any value. The other view (`Udp`) holds values that the header's standard allows; its
//! `parse` refuses all others ([`Malformed`]), and its `emit` writes what `parse` reads.
//!
//! Reading order: [`malformed`] (why bytes are refused), the headers ([`ethernet`], [`vlan`], [`ipv4`],
//! [`ipv6`], [`udp`], [`tcp`], [`roce`], [`mac_control`]), our own headers ([`kind`], [`end_to_end`],
//! [`telemetry`], [`link_local`]), then [`frame`] (a packet to a frame and back), [`address`] (hosts and
//! their addresses), [`kernel`] (what a frame of a host's kernel says), [`congestion`] (marks in such a
//! frame), [`traced`] (a packet of a simulated link as a frame), [`pcapng`] (frames in a file).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate alloc;

mod view;

pub mod address;
pub mod congestion;
pub mod end_to_end;
pub mod ethernet;
pub mod frame;
pub mod ipv4;
pub mod ipv6;
pub mod kernel;
pub mod kind;
pub mod link_local;
pub mod mac_control;
pub mod malformed;
pub mod pcapng;
pub mod roce;
pub mod tcp;
pub mod telemetry;
pub mod traced;
pub mod udp;
pub mod vlan;

pub use congestion::mark_congestion;
pub use ethernet::{EtherType, Ethernet, MacAddress};
pub use frame::{Frame, LinkAddresses, Unwritable, encapsulate, frame_bytes, read, write};
pub use kernel::{KernelFrame, KernelPacket, LinkTraffic, classify};
pub use mac_control::PriorityPause;
pub use malformed::{Header, Malformed, NoRoom};
