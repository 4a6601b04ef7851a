//! The hosts of a run, each in a network namespace of its own.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

use penstock_sim::{Scenario, topology};
use penstock_wire::{Ethernet, MacAddress, address};

use crate::config::EmulationConfig;
use crate::controls::Controls;
use crate::device::Device;
use crate::error::EmulationError;
use crate::namespace::{
    Ecn, HostNamespace, HostSettings, KernelStack, Namespaces, PacketSocket, Stack, TapDevice,
};

/// The most that our own frames are longer than the scenario's packets (bytes).
const OVERHEAD: u32 = penstock_wire::frame::MOST_OVERHEAD as u32;

/// The smallest MTU with which a kernel speaks IPv6 (RFC 8200, sec. 5).
const LEAST_IPV6_MTU: u32 = 1_280;

/// Frames that wait at a TAP device for the emulator at most (our choice: 64 kB of each of 16 connections).
const QUEUE_FRAMES: u32 = 1_000;

/// The namespaces of all hosts, and their devices.
pub(crate) struct Places {
    /// By host.
    pub hosts: Vec<HostNamespace>,
    /// By host: the network's end of its link.
    pub taps: Vec<TapDevice>,
    /// The hosts' ends, of hosts that are ours.
    pub sockets: HashMap<u32, PacketSocket>,
}

/// Makes a namespace for each host of `scenario`, and gives up all privileges.
pub(crate) fn create(
    namespaces: Namespaces,
    scenario: &Scenario,
    config: &EmulationConfig,
    controls: &Controls,
) -> Result<Places, EmulationError> {
    let count = topology::build(&scenario.topology)?.hosts;
    let (mut hosts, mut taps, mut sockets) = (Vec::new(), Vec::new(), HashMap::new());
    for host in 0..count {
        let is_kernel = config.kernels.binary_search(&host).is_ok();
        let packet = packet_bytes(scenario);
        let (mtu, stack) = match is_kernel {
            true => {
                let mtu = packet.saturating_sub(Ethernet::LENGTH as u32);
                (mtu, Stack::Kernel(kernel_stack(host, count, mtu, controls)))
            }
            false => (packet + OVERHEAD, Stack::Packets),
        };
        let settings = HostSettings {
            name: format!("H{host}"),
            mac: mac(host),
            mtu,
            queue_frames: QUEUE_FRAMES,
            stack,
        };
        let (place, tap) = namespaces.host(&settings)?;
        if !is_kernel {
            sockets.insert(host, place.packet_socket()?);
        }
        hosts.push(place);
        taps.push(tap);
    }
    namespaces.drop_privileges(&hosts)?;
    Ok(Places { hosts, taps, sockets })
}

/// The longest frame of a host with a kernel: as long as the scenario's packets without telemetry (bytes).
/// Frames of our own hosts have longer headers.
pub(crate) fn packet_bytes(scenario: &Scenario) -> u32 {
    scenario.wire.payload + scenario.wire.header
}

fn mac(host: u32) -> [u8; 6] {
    address::mac_of(host).unwrap_or(MacAddress([0; 6])).0
}

/// The addresses of a host with a kernel, and its neighbours, so that no host asks for any. The host has
/// no IPv6 where its `mtu` is too small.
fn kernel_stack(host: u32, hosts: u32, mtu: u32, controls: &Controls) -> KernelStack {
    let addresses = |host: u32| {
        let ipv4 = address::ipv4_of(host).map(IpAddr::V4);
        let ipv6 = address::ipv6_of(host).filter(|_| mtu >= LEAST_IPV6_MTU);
        ipv4.into_iter().chain(ipv6.map(IpAddr::V6))
    };
    let others = (0..hosts).filter(|&other| other != host);
    let neighbours =
        others.flat_map(|other| addresses(other).map(move |address| (address, mac(other))));
    KernelStack {
        addresses: addresses(host).collect(),
        neighbours: neighbours.collect(),
        congestion_control: controls.only(host).map(str::to_owned),
        chosen_by_programs: controls.chosen(host),
        ecn: Ecn::On,
    }
}

impl Device for TapDevice {
    const READ_IS_FRAME: bool = true;

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        TapDevice::receive(self, buffer)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        TapDevice::send(self, frame)
    }
}

impl Device for PacketSocket {
    /// A VLAN tag comes beside the frame.
    const READ_IS_FRAME: bool = false;

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        PacketSocket::receive(self, buffer)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        PacketSocket::send(self, frame)
    }
}
