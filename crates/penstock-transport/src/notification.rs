//! The notification point: when the receiver of a flow tells its source of congestion with a packet
//! of its own, and what it says.
//!
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (DCQCN), SIGCOMM 2015, Sec.
//! 3.1 (NP algorithm, Fig. 6). Implemented: a congestion notification packet for a marked data packet,
//! at most one an interval for each flow. The interval belongs to the flow's controller
//! ([`crate::control::dcqcn`]). Left out: the limit on the notifications of a whole NIC, which the
//! paper mentions as a property of hardware. PCN's notification point is the module
//! `receiving_rate`.

use alloc::boxed::Box;

use penstock_units::Time;

use crate::control::expresspass::Destination;
use crate::receiving_rate::ReceivingRate;

/// What a congestion notification tells the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Whether the flow is congested (the ECN bit of PCN's packet); otherwise it may send faster.
    pub is_congested: bool,
    /// The rate at which a congested flow arrives, headers included (Mb/s); 0 where the receiver
    /// does not say (RecRate in PCN).
    pub receiving_rate: u32,
}

/// The notification point of one flow.
#[derive(Clone, Debug)]
pub(crate) enum NotificationPoint {
    /// The sender listens to nothing but acknowledgements and switches.
    Silent,
    /// Tells of marks (DCQCN).
    Marks {
        /// Notifications are at least so far apart (ps).
        interval: Time,
        /// When the next one may leave (ps).
        earliest: Time,
    },
    /// Tells of each period that brought packets (PCN).
    Periods(Box<ReceivingRate>),
    /// Lets the sender send (ExpressPass): credits, which are no notifications.
    Credits(Box<Destination>),
}

impl NotificationPoint {
    /// Tells of marks, at most once an `interval`.
    pub(crate) fn marks(interval: Time) -> Self {
        NotificationPoint::Marks { interval, earliest: Time::ZERO }
    }

    /// A data packet of `wire_bytes` arrived at `now`, with or without a mark; what is to be sent to
    /// its source.
    #[inline]
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        wire_bytes: u32,
        is_marked: bool,
    ) -> Option<Notification> {
        match self {
            NotificationPoint::Silent | NotificationPoint::Credits(_) => None,
            NotificationPoint::Marks { interval, earliest } => {
                if !is_marked || now < *earliest {
                    return None;
                }
                *earliest = now.saturating_add(*interval);
                Some(Notification { is_congested: true, receiving_rate: 0 })
            }
            NotificationPoint::Periods(rate) => rate.on_data(now, wire_bytes, is_marked),
        }
    }

    /// When the next notification is due without a packet (ps); [`Time::NEVER`] when none is.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        match self {
            NotificationPoint::Silent | NotificationPoint::Marks { .. } => Time::NEVER,
            NotificationPoint::Periods(rate) => rate.deadline(),
            NotificationPoint::Credits(credits) => credits.deadline(),
        }
    }

    /// What is to be sent to the source because of the time alone.
    pub(crate) fn on_deadline(&mut self, now: Time) -> Option<Notification> {
        match self {
            NotificationPoint::Periods(rate) => rate.on_deadline(now),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mark_is_told_at_once_and_the_next_after_the_interval() {
        let mut point = NotificationPoint::marks(Time::from_us(50));
        let told = Some(Notification { is_congested: true, receiving_rate: 0 });
        for (us, is_marked, expected) in [
            (1, false, None),
            (2, true, told),
            (51, true, None),
            (60, false, None),
            (60, true, told),
            (109, true, None),
            (110, true, told),
        ] {
            assert_eq!(point.on_data(Time::from_us(us), 1_048, is_marked), expected);
        }
        assert_eq!(point.deadline(), Time::NEVER);
    }

    #[test]
    fn a_silent_point_tells_nothing_and_without_an_interval_every_mark_is_told() {
        assert_eq!(NotificationPoint::Silent.on_data(Time::ZERO, 1_048, true), None);
        let mut point = NotificationPoint::marks(Time::ZERO);
        let mut told = || point.on_data(Time::ZERO, 1_048, true).is_some();
        assert!(told() && told());
    }
}
