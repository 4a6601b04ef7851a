//! Two hosts, and the simplest network between them: what one sends the other receives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use penstock_emulate::namespace::{
    HostNamespace, HostSettings, KernelStack, Namespaces, Stack, TapDevice, enter,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The MTU of the hosts (bytes).
pub const MTU: u32 = 1_500;

/// The address of an interface.
pub fn mac(host: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, host]
}

/// The IPv4 or IPv6 address of a host.
pub fn ip(host: u8, version: u8) -> std::net::IpAddr {
    match version {
        4 => [10, 0, 0, host].into(),
        _ => [0xfd00, 0, 0, 0, 0, 0, 0, host.into()].into(),
    }
}

/// The settings of host `host` of `hosts`, with these IP versions.
pub fn kernel_host(host: u8, hosts: u8, versions: &[u8]) -> HostSettings {
    let others = (1..=hosts).filter(|&other| other != host);
    let stack = KernelStack {
        addresses: versions.iter().map(|&version| ip(host, version)).collect(),
        neighbours: others
            .flat_map(|other| versions.iter().map(move |&version| (ip(other, version), mac(other))))
            .collect(),
        ..KernelStack::default()
    };
    HostSettings {
        name: format!("h{host}"),
        mac: mac(host),
        mtu: MTU,
        queue_frames: 1_000,
        stack: Stack::Kernel(stack),
    }
}

/// The stack of settings that [`kernel_host`] has made.
pub fn kernel(settings: &mut HostSettings) -> &mut KernelStack {
    match &mut settings.stack {
        Stack::Kernel(kernel) => kernel,
        Stack::Packets => panic!("a kernel host"),
    }
}

/// Namespaces with hosts of these settings.
pub fn hosts<const N: usize>(
    settings: [HostSettings; N],
) -> (Namespaces, [(HostNamespace, TapDevice); N]) {
    let namespaces = enter().expect("the probe has entered too");
    let made = settings
        .map(|settings| namespaces.host(&settings).unwrap_or_else(|error| panic!("{error}")));
    (namespaces, made)
}

/// A thread that carries frames between two devices.
pub struct Network {
    over: Arc<AtomicBool>,
    thread: JoinHandle<(Vec<Vec<u8>>, [TapDevice; 2])>,
}

impl Network {
    /// Joins two devices. `change` may change a frame, which has its number; false: the frame is
    /// lost.
    pub fn join(
        devices: [TapDevice; 2],
        mut change: impl FnMut(u64, &mut [u8]) -> bool + Send + 'static,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut seen = Vec::new();
            let mut buffer = [0; 70_000];
            let soon = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            while !end.load(Ordering::Relaxed) {
                let mut events =
                    devices.each_ref().map(|device| PollFd::new(device, PollFlags::IN));
                poll(&mut events, Some(&soon)).expect("devices can be polled");
                for (from, to) in [(0, 1), (1, 0)] {
                    while let Some(length) =
                        devices[from].receive(&mut buffer).expect("frames are received")
                    {
                        let frame = &mut buffer[..length];
                        seen.push(frame.to_vec());
                        if change(seen.len() as u64, frame) {
                            assert!(devices[to].send(frame).expect("frames are sent"));
                        }
                    }
                }
            }
            (seen, devices)
        });
        Self { over, thread }
    }

    /// Ends the thread; all frames, as the hosts have sent them.
    pub fn frames(self) -> Vec<Vec<u8>> {
        self.end().0
    }

    /// Ends the thread; all frames, as the hosts have sent them, and the devices.
    pub fn end(self) -> (Vec<Vec<u8>>, [TapDevice; 2]) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("the network carried everything")
    }
}
