//! Homa at both ends of a message: levels, grants, RESEND and BUSY.

use penstock_transport::{HostConfig, Readiness, Receiver, Reply, Sender};
use penstock_units::Time;

use crate::{host, path};

/// 5 kB without a grant, levels 0 and 1 for them, and 1 ms until a RESEND.
fn homa() -> HostConfig {
    let controller = r#"{"kind":"homa","bdp_factor":0.05,"overcommitment":1,"cutoffs":[1000]}"#;
    let recovery = r#"{"kind":"resend","timeout":1000000000}"#;
    host(serde_json::from_str(controller).unwrap(), serde_json::from_str(recovery).unwrap())
}

#[test]
fn a_message_leaves_as_it_is_granted_and_what_is_asked_for_leaves_at_the_highest_level() {
    let now = Time::ZERO;
    let mut sender = Sender::new(10_000, &homa(), &path(), now);
    let send = |sender: &mut Sender| {
        let segment = sender.send(now);
        (segment.offset, segment.level, segment.is_retransmission)
    };
    for packet in 0..5 {
        assert_eq!(send(&mut sender), (packet * 1_000, 1, false));
    }
    assert_eq!(sender.readiness(now), Readiness::Blocked);
    sender.on_grant(6_000, 3);
    assert_eq!(send(&mut sender), (5_000, 3, false));
    assert_eq!(sender.readiness(now), Readiness::Blocked);
    assert!(!sender.on_resend(1_000..2_000));
    assert_eq!(send(&mut sender), (1_000, 0, true));
    assert_eq!(sender.readiness(now), Readiness::Blocked);
    // What was never sent is not lost: the sender is busy, and now it has the grant that was lost.
    assert!(sender.on_resend(6_000..7_000));
    assert_eq!(send(&mut sender), (6_000, 3, false));
    assert_eq!(sender.readiness(now), Readiness::Blocked);
}

#[test]
fn a_receiver_asks_again_for_what_it_has_granted_unless_the_sender_is_busy() {
    let mut receiver = Receiver::new(&homa(), 10_000, &path(), 0.0);
    assert_eq!(receiver.deadline(), Time::NEVER);
    assert_eq!(receiver.on_data(Time::ZERO, 0, 1_000), Reply::Nothing);
    assert_eq!(receiver.deadline(), Time::from_us(1_000));
    assert_eq!(receiver.resend(Time::from_us(999)), None);
    assert_eq!(receiver.resend(Time::from_us(1_000)), Some(1_000..5_000));
    assert_eq!(receiver.resend(Time::from_us(1_000)), None);
    receiver.on_busy(Time::from_us(1_500));
    assert_eq!(receiver.deadline(), Time::from_us(2_500));
    receiver.on_grant(Time::from_us(1_600), 6_000);
    assert_eq!(receiver.resend(Time::from_us(2_600)), Some(1_000..6_000));
}
