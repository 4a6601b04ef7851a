//! PCN's notification point: once a period, whether the flow is congested and how fast it arrives.
//!
//! W. Cheng et al., "Re-architecting Congestion Management in Lossless Ethernet" (PCN), NSDI 2020,
//! Sec. 5.2 (NP algorithm, Fig. 8 and 9). A flow is congested in a period in which more than 95 % of
//! its packets were marked. A notification leaves at the end of every period that brought packets; of
//! a congested flow it carries the receiving rate in units of 1 Mb/s.
//!
//! Where the paper is silent or contradicts itself:
//! - The receiving rate is the bytes of the period over its length; the text has the fraction upside
//!   down (`DESIGN.md` sec. 9).
//! - One packet in a period: the text replaces T by the time since the packet before "when the
//!   inter-arrival time is larger than T", the figure whenever there is one packet. We take the longer
//!   of the two, or two packets on either side of a period's end would count as a burst. The first
//!   packet of a flow has none before it and counts for T.
//! - "More than 95 %" as in the figure, not "95 %" as in the text.
//! - Bytes are those on the wire, headers included: that is what the sender paces.
//! - Periods follow one another from the first packet on, whether or not they bring packets (Fig. 8
//!   restarts the timer at each expiry). A packet at the end of a period belongs to the next one.
//! - The rate is rounded to the nearest unit.
//!
//! | symbol | field | value | source |
//! |---|---|---|---|
//! | T | `notification_interval` of [`crate::control::pcn`] | 50 us | Sec. 5.2 |
//! | 95 % | `marked_share` of the same | 0.95 | Sec. 5.2 |

use penstock_units::Time;

use crate::notification::Notification;

/// Bits per byte, and picoseconds times Mb/s per bit: bytes / ps to Mb/s.
const BYTES_PER_PS_IN_MBPS: u128 = 8 * 1_000_000;

/// The notification point of one flow.
#[derive(Clone, Debug)]
pub(crate) struct ReceivingRate {
    /// T in the paper (ps), > 0.
    interval: Time,
    /// A flow with a larger share of marks is congested.
    marked_share: f64,
    /// When the period ends (ps); zero before the first packet.
    period_end: Time,
    /// When the last packet arrived (ps).
    last_arrival: Time,
    /// From the packet before to the last one (ps); zero when there is one only.
    gap: Time,
    /// Of this period: packets (recNum), those marked (ECNNum), and bytes (recData).
    packets: u32,
    marked: u32,
    bytes: u64,
}

impl ReceivingRate {
    /// Of a flow that has delivered nothing.
    pub(crate) fn new(interval: Time, marked_share: f64) -> Self {
        ReceivingRate {
            interval,
            marked_share,
            period_end: Time::ZERO,
            last_arrival: Time::ZERO,
            gap: Time::ZERO,
            packets: 0,
            marked: 0,
            bytes: 0,
        }
    }

    /// A data packet arrived at `now`. Answers what a period that has ended by then has to tell.
    #[inline]
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        wire_bytes: u32,
        is_marked: bool,
    ) -> Option<Notification> {
        let told = self.on_deadline(now);
        if self.period_end == Time::ZERO {
            self.period_end = now.saturating_add(self.interval);
        } else {
            self.gap = now - self.last_arrival;
            if now >= self.period_end {
                self.begin_period(now);
            }
        }
        self.last_arrival = now;
        self.packets += 1;
        self.marked += u32::from(is_marked);
        self.bytes += u64::from(wire_bytes);
        told
    }

    /// When a notification is due (ps); [`Time::NEVER`] while the period has brought nothing.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        if self.packets > 0 { self.period_end } else { Time::NEVER }
    }

    /// What a period that has ended by `now` has to tell.
    #[inline]
    pub(crate) fn on_deadline(&mut self, now: Time) -> Option<Notification> {
        if now < self.deadline() {
            return None;
        }
        let is_congested = f64::from(self.marked) > self.marked_share * f64::from(self.packets);
        let receiving_rate = if is_congested { self.rate() } else { 0 };
        (self.packets, self.marked, self.bytes) = (0, 0, 0);
        self.begin_period(now);
        Some(Notification { is_congested, receiving_rate })
    }

    /// The receiving rate of a period with packets (Mb/s).
    fn rate(&self) -> u32 {
        let span = match self.packets {
            1 => self.interval.max(self.gap),
            _ => self.interval,
        };
        let span = u128::from(span.as_ps());
        let rate = (u128::from(self.bytes) * BYTES_PER_PS_IN_MBPS + span / 2) / span;
        u32::try_from(rate).unwrap_or(u32::MAX)
    }

    /// Goes on to the period that contains `now`, which is at or after the end of the last.
    fn begin_period(&mut self, now: Time) {
        let passed = (now - self.period_end).as_ps() / self.interval.as_ps() + 1;
        let span = self.interval.as_ps().saturating_mul(passed);
        self.period_end = self.period_end.saturating_add(Time::from_ps(span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u32 = 1_000;

    fn point() -> ReceivingRate {
        ReceivingRate::new(Time::from_us(50), 0.95)
    }

    /// `packets` arrive a microsecond apart from `start` (us) on; the first `marked` have marks.
    fn arrive(point: &mut ReceivingRate, start: u64, packets: u64, marked: u64) {
        for packet in 0..packets {
            let now = Time::from_us(start + packet);
            assert_eq!(point.on_data(now, PACKET, packet < marked), None);
        }
    }

    fn congested(receiving_rate: u32) -> Option<Notification> {
        Some(Notification { is_congested: true, receiving_rate })
    }

    const FASTER: Option<Notification> =
        Some(Notification { is_congested: false, receiving_rate: 0 });

    #[test]
    fn a_marked_flow_is_told_its_rate_at_the_end_of_the_period() {
        let mut point = point();
        assert_eq!(point.deadline(), Time::NEVER);
        arrive(&mut point, 10, 40, 40);
        assert_eq!(point.deadline(), Time::from_us(60));
        assert_eq!(point.on_deadline(Time::from_us(59)), None);
        // 40,000 B in 50 us.
        assert_eq!(point.on_deadline(Time::from_us(60)), congested(6_400));
        assert_eq!(point.deadline(), Time::NEVER);
    }

    #[test]
    fn a_flow_is_congested_with_more_than_95_percent_of_its_packets_marked() {
        for (packets, marked, expected) in [
            (40, 38, FASTER), // 95 %
            (40, 39, congested(6_400)),
            (20, 19, FASTER),
            (20, 20, congested(3_200)),
            (40, 0, FASTER),
        ] {
            let mut point = point();
            arrive(&mut point, 0, packets, marked);
            assert_eq!(point.on_deadline(Time::from_us(50)), expected, "{marked} of {packets}");
        }
    }

    #[test]
    fn one_packet_counts_for_the_time_since_the_one_before_if_that_is_longer() {
        let mut point = point();
        arrive(&mut point, 0, 1, 1);
        assert_eq!(point.on_deadline(Time::from_us(50)), congested(160)); // 8,000 bits in 50 us
        arrive(&mut point, 200, 1, 1);
        assert_eq!(point.deadline(), Time::from_us(250));
        assert_eq!(point.on_deadline(Time::from_us(250)), congested(40)); // 200 us
        arrive(&mut point, 290, 1, 1);
        assert_eq!(point.on_deadline(Time::from_us(300)), congested(89)); // 90 us
        arrive(&mut point, 301, 1, 1);
        assert_eq!(point.on_deadline(Time::from_us(350)), congested(160)); // 11 us apart: T
    }

    #[test]
    fn a_period_without_packets_tells_nothing_and_the_next_ones_keep_their_ends() {
        let mut point = point();
        arrive(&mut point, 0, 2, 0);
        assert_eq!(point.on_deadline(Time::from_us(50)), FASTER);
        arrive(&mut point, 155, 2, 0);
        assert_eq!(point.deadline(), Time::from_us(200));
    }

    #[test]
    fn a_packet_at_the_end_of_a_period_belongs_to_the_next_and_does_not_wait_for_the_timer() {
        let mut point = point();
        arrive(&mut point, 0, 50, 50);
        assert_eq!(point.on_data(Time::from_us(50), PACKET, true), congested(8_000));
        assert_eq!(point.on_deadline(Time::from_us(50)), None);
        assert_eq!(point.deadline(), Time::from_us(100));
        assert_eq!(point.on_deadline(Time::from_us(100)), congested(160));
    }

    #[test]
    fn a_rate_below_half_a_unit_is_zero_and_the_largest_is_that_of_32_bits() {
        let mut slow = ReceivingRate::new(Time::from_ms(100), 0.95);
        slow.on_data(Time::ZERO, PACKET, true);
        assert_eq!(slow.on_deadline(Time::from_ms(100)), congested(0));
        let mut fast = ReceivingRate::new(Time::from_ps(1), 0.95);
        fast.on_data(Time::ZERO, PACKET, true);
        assert_eq!(fast.on_deadline(Time::from_ps(1)), congested(u32::MAX));
    }
}
