//! The notification point: when the receiver of a flow tells its source of congestion with a packet
//! of its own.
//!
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (DCQCN), SIGCOMM 2015, Sec.
//! 3.1 (NP algorithm, Fig. 6). Implemented: a congestion notification packet for a marked data packet,
//! at most one an interval for each flow. The interval belongs to the flow's controller
//! ([`crate::control::dcqcn`]). Left out: the limit on the notifications of a whole NIC, which the
//! paper mentions as a property of hardware.

use penstock_units::Time;

/// The notification point of one flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotificationPoint {
    /// `None` where the sender listens to nothing but acknowledgements.
    interval: Option<Time>,
    /// When the next notification may leave.
    earliest: Time,
}

impl NotificationPoint {
    /// Notifications that are at least `interval` apart, or none at all.
    pub(crate) fn new(interval: Option<Time>) -> Self {
        NotificationPoint { interval, earliest: Time::ZERO }
    }

    /// A data packet arrived at `now`, with or without a mark; answers whether a notification is to
    /// be sent.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, is_marked: bool) -> bool {
        let Some(interval) = self.interval else { return false };
        let notifies = is_marked && now >= self.earliest;
        if notifies {
            self.earliest = now.saturating_add(interval);
        }
        notifies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mark_is_told_at_once_and_the_next_after_the_interval() {
        let mut point = NotificationPoint::new(Some(Time::from_us(50)));
        assert!(!point.on_data(Time::from_us(1), false));
        assert!(point.on_data(Time::from_us(2), true));
        assert!(!point.on_data(Time::from_us(51), true));
        assert!(!point.on_data(Time::from_us(60), false));
        assert!(point.on_data(Time::from_us(60), true));
        assert!(!point.on_data(Time::from_us(109), true));
        assert!(point.on_data(Time::from_us(110), true));
    }

    #[test]
    fn without_an_interval_nothing_is_told_and_with_zero_every_mark() {
        assert!(!NotificationPoint::new(None).on_data(Time::ZERO, true));
        let mut point = NotificationPoint::new(Some(Time::ZERO));
        assert!(point.on_data(Time::ZERO, true) && point.on_data(Time::ZERO, true));
    }
}
