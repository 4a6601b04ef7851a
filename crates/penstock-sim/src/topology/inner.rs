//! Links inside servers, by which hosts of one server reach each other without the network.

use penstock_units::{BitRate, Time};

/// The links inside the servers of a network. A server is hosts with consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerLinks {
    /// Hosts of a server, 2 or more.
    pub hosts: u32,
    /// The rate at which a host sends to its server (bit/s), > 0.
    pub rate: BitRate,
    /// From the last bit's leaving a host to its arrival at another (ps).
    pub delay: Time,
}

impl InnerLinks {
    /// Whether the two hosts are in one server.
    #[inline]
    pub fn join(&self, one: u32, other: u32) -> bool {
        one / self.hosts == other / self.hosts
    }

    /// The hosts of the server of `host`, itself included.
    pub fn server(&self, host: u32) -> std::ops::Range<u32> {
        let first = host / self.hosts * self.hosts;
        first..first + self.hosts
    }

    /// The share of the pairs of two different hosts, one of `sources` and one of `destinations`, that are in
    /// one server. No list repeats a host.
    pub(crate) fn share(&self, sources: &[u32], destinations: &[u32]) -> f64 {
        let mut sorted = destinations.to_vec();
        sorted.sort_unstable();
        let below = |host: u32| sorted.partition_point(|&other| other < host);
        let (mut inside, mut all) = (0, 0);
        for &source in sources {
            let own = usize::from(sorted.binary_search(&source).is_ok());
            let server = self.server(source);
            inside += below(server.end) - below(server.start) - own;
            all += sorted.len() - own;
        }
        inside as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_a_server_are_counted() {
        let links =
            InnerLinks { hosts: 4, rate: BitRate::from_gbps(3_600), delay: Time::from_us(1) };
        assert!(links.join(4, 7) && !links.join(3, 4));
        assert_eq!(links.server(6), 4..8);
        let all: Vec<u32> = (0..8).collect();
        // Every host has 3 of its 7 others in its server.
        assert_eq!(links.share(&all, &all), 3.0 / 7.0);
        // Of the pairs 0-1, 0-4, 0-5 and 1-4, 1-5.
        assert_eq!(links.share(&[0, 1], &[5, 1, 4]), 1.0 / 5.0);
        assert_eq!(links.share(&[0], &[0]), 0.0);
    }
}
