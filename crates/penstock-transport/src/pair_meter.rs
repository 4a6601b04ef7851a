//! The receiver's half of packet-pair flow control: how far apart the two packets of a pair arrive
//! (AFQ: N. K. Sharma et al., NSDI 2018, Fig. 13, "receiver protocol").
//!
//! The paper's receiver takes any packet that does not open a pair for the second one of the last pair
//! that it saw. Packets can be lost, so here the second one must begin where the first one ended and be
//! as long; otherwise nothing is measured.

use penstock_units::Time;

/// The pair that a flow's receiver is in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairMeter {
    /// When the first packet arrived (`first_pktpair_time` in the paper).
    first_at: Time,
    /// Where it ends in the flow; 0 when no pair is open.
    end: u64,
    payload: u32,
}

impl PairMeter {
    /// A data packet with `payload` bytes from `offset` on arrived at `now`. Answers the gap of the
    /// pair that it completes; zero when it completes none.
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        offset: u64,
        payload: u32,
        opens_pair: bool,
    ) -> Time {
        if opens_pair {
            *self = PairMeter { first_at: now, end: offset + u64::from(payload), payload };
            return Time::ZERO;
        }
        let completes = self.end > 0 && offset == self.end && payload == self.payload;
        self.end = 0;
        if completes { now - self.first_at } else { Time::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_packet_of_a_pair_brings_the_gap() {
        let mut meter = PairMeter::default();
        let at = Time::from_ns;
        assert_eq!(meter.on_data(at(100), 0, 1_000, true), Time::ZERO);
        assert_eq!(meter.on_data(at(180), 1_000, 1_000, false), at(80));
        assert_eq!(meter.on_data(at(260), 2_000, 1_000, false), Time::ZERO); // no pair is open
    }

    #[test]
    fn packets_that_are_no_pair_bring_none() {
        let mut meter = PairMeter::default();
        let at = Time::from_ns;
        assert_eq!(meter.on_data(at(50), 0, 1_000, false), Time::ZERO); // its first one is lost
        meter.on_data(at(100), 2_000, 1_000, true);
        assert_eq!(meter.on_data(at(180), 4_000, 1_000, false), Time::ZERO); // 3,000 is lost
        meter.on_data(at(200), 5_000, 1_000, true);
        assert_eq!(meter.on_data(at(220), 6_000, 400, false), Time::ZERO); // too short to compare
    }
}
