//! Frames that were lost between a host and the network, because a device had no room for them: who should
//! have read them was late. The network has not dropped them, and knows nothing of them.

use crate::config::EmulationConfig;
use crate::error::EmulationError;
use crate::namespace::{HostNamespace, PacketSocket};

/// Frames that a host and the network have missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// Frames of a host with a kernel that the network has not read.
    pub from_host: u64,
    /// Frames to a host that the host has not read.
    pub to_host: u64,
}

/// The counters of the devices of hosts with kernels, by host, at the start of a run.
#[derive(Debug)]
pub(crate) struct Before(Vec<(u32, Missed)>);

impl Before {
    /// What devices have counted so far; hosts of ours begin anew.
    pub fn count<'a>(
        hosts: &[HostNamespace],
        config: &EmulationConfig,
        sockets: impl IntoIterator<Item = &'a PacketSocket>,
    ) -> Result<Self, EmulationError> {
        for socket in sockets {
            socket.dropped()?;
        }
        let counted = |&host: &u32| Ok((host, of_kernel(&hosts[host as usize])?));
        Ok(Before(config.kernels.iter().map(counted).collect::<Result<_, EmulationError>>()?))
    }

    /// What was missed since then, by host: hosts with kernels, and those of ours with their `sockets`.
    pub fn since(
        &self,
        hosts: &[HostNamespace],
        sockets: impl IntoIterator<Item = (u32, PacketSocket)>,
    ) -> Result<Vec<(u32, Missed)>, EmulationError> {
        let mut missed = Vec::new();
        for &(host, before) in &self.0 {
            let now = of_kernel(&hosts[host as usize])?;
            let from_host = now.from_host - before.from_host;
            missed.push((host, Missed { from_host, to_host: now.to_host - before.to_host }));
        }
        for (host, socket) in sockets {
            // What the device of the network has no room for, a host of ours sends again.
            missed.push((host, Missed { from_host: 0, to_host: socket.dropped()? }));
        }
        missed.sort_unstable_by_key(|&(host, _)| host);
        Ok(missed)
    }
}

/// What the device of a host with a kernel has counted so far.
fn of_kernel(host: &HostNamespace) -> Result<Missed, EmulationError> {
    let counters = host.counters()?;
    Ok(Missed { from_host: counters.dropped_outbound, to_host: counters.dropped_inbound })
}
