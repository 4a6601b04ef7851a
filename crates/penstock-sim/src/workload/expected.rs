//! How many flows of which sizes are expected.

use penstock_transport::SizeShare;

/// The flows with an end that are expected.
#[derive(Clone, Debug, Default)]
pub struct ExpectedFlows {
    /// By size: those that cross the network.
    pub shares: Vec<SizeShare>,
    /// How many stay inside servers.
    pub inside: f64,
    /// How many of those that cross the network, and of those that stay inside servers, start only when
    /// others have ended. Those of lists are not among them.
    pub behind: [f64; 2],
}

impl ExpectedFlows {
    /// Adds `flows` of `size` bytes, which stay inside servers or not.
    pub(super) fn add(&mut self, size: u64, flows: f64, is_inside: bool) {
        match is_inside {
            true => self.inside += flows,
            false => self.shares.push(SizeShare { size, flows }),
        }
    }

    /// Adds `shares`, of whose flows the share `inside` stays inside servers.
    pub(super) fn add_all(&mut self, shares: impl IntoIterator<Item = SizeShare>, inside: f64) {
        for SizeShare { size, flows } in shares {
            self.inside += flows * inside;
            self.shares.push(SizeShare { size, flows: flows * (1.0 - inside) });
        }
    }
}
