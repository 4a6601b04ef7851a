//! Every byte is delivered once and in order, whatever packets are lost or reordered.

use penstock_transport::{ControllerConfig, Readiness, RecoveryConfig};
use penstock_units::Time;
use proptest::prelude::*;

use crate::pair::Pair;
use crate::{
    cubic, dctcp, fast_retransmit, go_back_n, line_rate, new_reno, pfabric, selective_repeat,
    swift, timeout_only, trimmed_headers, window,
};

fn controllers() -> impl Strategy<Value = ControllerConfig> {
    prop_oneof![
        Just(line_rate()),
        Just(window(1)),
        Just(window(7_500)),
        Just(dctcp()),
        Just(new_reno(10)),
        Just(cubic(10)),
        Just(pfabric()),
        Just(swift()),
    ]
}

fn recoveries() -> impl Strategy<Value = RecoveryConfig> {
    prop_oneof![
        Just(go_back_n()),
        Just(selective_repeat()),
        Just(timeout_only()),
        Just(fast_retransmit()),
        Just(trimmed_headers()),
    ]
}

proptest! {
    #[test]
    fn all_bytes_arrive_in_order_once_whatever_is_lost_or_reordered(
        size in 1u64..60_000,
        fates in prop::collection::vec(prop::option::weighted(0.7, 1u64..40), 0..400),
        controller in controllers(),
        recovery in recoveries(),
    ) {
        let mut pair = Pair::new(size, controller, recovery);
        pair.fates = fates;
        pair.run();
        prop_assert!(pair.completed_at.is_some());
        prop_assert_eq!(pair.receiver.delivered(), size);
        prop_assert_eq!(pair.sender.acknowledged(), size);
        prop_assert_eq!((pair.sender.in_flight(), pair.sender.remaining_unsent()), (0, 0));
        prop_assert_eq!(pair.sender.readiness(Time::NEVER), Readiness::Idle);
        prop_assert_eq!(pair.sender.deadline(), Time::NEVER);
    }

    /// Where packets keep their order and none is lost, nothing is sent twice.
    #[test]
    fn nothing_is_sent_again_without_a_loss(
        size in 1u64..200_000,
        controller in controllers(),
        recovery in recoveries(),
    ) {
        let mut pair = Pair::new(size, controller, recovery);
        pair.run();
        prop_assert_eq!((pair.sender.retransmitted_packets(), pair.sender.timeouts()), (0, 0));
    }
}
