//! The bytes that FAFC's pauses hold back, for each ingress port, in time slots of one T_hop (sec.
//! II-B; Algorithm 1, `TimeSlotExpire`; Algorithm 2, lines 17 to 26).
//!
//! A slot starts with the first pause, and further slots follow while they contain held-back bytes.
//! Bytes held back in this slot will not arrive, so they are subtracted from a prediction. Bytes held
//! back in the last slot are arriving now, so they are added.

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_units::Time;

/// The time slots of an ingress port.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub(crate) struct Slots {
    /// pausOld: bytes held back in the last slot (bytes).
    old: f64,
    /// pausNext: bytes held back in this slot (bytes).
    next: f64,
    /// pausPending: bytes that will be held back in the next slot (bytes).
    pending: f64,
    /// When this slot ends; [`Time::NEVER`] when there is no slot.
    ends_at: Time,
}

impl Slots {
    /// No pause.
    pub(crate) const IDLE: Slots =
        Slots { old: 0.0, next: 0.0, pending: 0.0, ends_at: Time::NEVER };

    /// When this slot ends.
    pub(crate) fn ends_at(&self) -> Time {
        self.ends_at
    }

    /// pausOld - pausNext: bytes that arrive because of pauses, beyond the trend (bytes).
    pub(crate) fn balance(&self) -> f64 {
        self.old - self.next
    }

    /// A port from which `rate` bytes/ns come is paused for `time` ns, at `now`. `hop` is T_hop of its
    /// link.
    ///
    /// Bytes that do not fit into the rest of the slot, or into its capacity of a whole T_hop, are
    /// pending. There, line 26 of Algorithm 2 counts the rest of T_hop; correct is the rest of the
    /// pause, because a pause holds nothing back once it is over.
    pub(crate) fn pause(&mut self, now: Time, hop: Time, rate: f64, time: f64) {
        if self.ends_at == Time::NEVER {
            self.next = rate * time;
            self.ends_at = now + hop;
            return;
        }
        let left = (self.ends_at - now).as_ns_f64();
        let available = left.min(hop.as_ns_f64() - self.next / rate).max(0.0);
        let at_once = available.min(time);
        self.next += rate * at_once;
        self.pending += rate * (time - at_once);
    }

    /// The slot ends at `now` (`TimeSlotExpire`). Another one follows while this slot or the next has
    /// held-back bytes. Line 34 asks for both, and would never subtract expired pauses again.
    pub(crate) fn expire(&mut self, now: Time, hop: Time) {
        self.old = self.next;
        self.next = self.pending;
        self.pending = 0.0;
        let goes_on = self.old != 0.0 || self.next != 0.0;
        self.ends_at = if goes_on { now + hop } else { Time::NEVER };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: Time = Time::from_us(1);

    fn slots(old: f64, next: f64, pending: f64, ends_at: u64) -> Slots {
        Slots { old, next, pending, ends_at: Time::from_ns(ends_at) }
    }

    #[test]
    fn a_pause_is_held_back_then_comes_and_is_then_forgotten() {
        let mut port = Slots::IDLE;
        port.pause(Time::from_ns(100), HOP, 3.0, 400.0);
        assert_eq!(port, slots(0.0, 1_200.0, 0.0, 1_100));
        assert_eq!(port.balance(), -1_200.0);
        port.expire(Time::from_ns(1_100), HOP);
        assert_eq!(port, slots(1_200.0, 0.0, 0.0, 2_100));
        assert_eq!(port.balance(), 1_200.0);
        port.expire(Time::from_ns(2_100), HOP);
        assert_eq!(port, Slots::IDLE);
    }

    #[test]
    fn what_does_not_fit_into_the_slot_is_pending() {
        let mut port = Slots::IDLE;
        port.pause(Time::ZERO, HOP, 3.0, 400.0);
        // 100 ns are left before the end of the slot, so 100 of 500 ns count now.
        port.pause(Time::from_ns(900), HOP, 3.0, 500.0);
        assert_eq!(port, slots(0.0, 1_500.0, 1_200.0, 1_000));
        port.expire(HOP, HOP);
        assert_eq!(port, slots(1_500.0, 1_200.0, 0.0, 2_000));
        // The slot is full up to 1,000 - 1,200/3 = 600 ns.
        port.pause(Time::from_ns(1_100), HOP, 3.0, 800.0);
        assert_eq!(port, slots(1_500.0, 3_000.0, 600.0, 2_000));
    }

    #[test]
    fn a_second_pause_that_fits_into_the_slot_is_held_back_at_once() {
        let mut port = Slots::IDLE;
        port.pause(Time::ZERO, HOP, 3.0, 400.0);
        port.pause(Time::from_ns(500), HOP, 3.0, 100.0);
        assert_eq!(port, slots(0.0, 1_500.0, 0.0, 1_000));
    }

    #[test]
    fn a_slot_follows_for_what_is_pending_alone() {
        let mut port = slots(1_200.0, 0.0, 0.0, 1_000);
        port.pause(HOP, HOP, 3.0, 400.0); // at the very end of the slot
        port.expire(HOP, HOP);
        assert_eq!(port, slots(0.0, 1_200.0, 0.0, 2_000));
    }

    #[test]
    fn a_full_slot_takes_nothing_more() {
        let mut port = Slots::IDLE;
        port.pause(Time::ZERO, HOP, 3.0, 1_000.0);
        port.pause(Time::ZERO, HOP, 2.0, 500.0); // a lower rate than before: more than full
        assert_eq!(port, slots(0.0, 3_000.0, 1_000.0, 1_000));
    }
}
