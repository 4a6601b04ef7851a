//! A signal survives the frame that carries it.

use proptest::prelude::*;

use super::*;

fn signal() -> impl Strategy<Value = Signal> {
    prop_oneof![
        (0u8..8).prop_map(Signal::PauseClass),
        (0u8..8).prop_map(Signal::ResumeClass),
        any::<u16>().prop_map(Signal::PauseQueue),
        any::<u16>().prop_map(Signal::ResumeQueue),
        (any::<u8>(), any::<u128>())
            .prop_map(|(epoch, queues)| Signal::QueueBitmap { epoch, queues }),
        any::<u32>().prop_map(Signal::PauseTime),
        (any::<u16>(), any::<u64>())
            .prop_map(|(account, granted)| Signal::Credit { account, granted }),
    ]
}

proptest! {
    #[test]
    fn a_frame_carries_its_signal(signal in signal(), bytes in 1u16..9_000) {
        let frame = signal.frame(bytes);
        prop_assert_eq!(Signal::of(&frame), Some(signal));
        prop_assert!(frame.kind.is_link_local());
        prop_assert_eq!((frame.wire_bytes, frame.payload), (bytes, 0));
    }
}

#[test]
fn other_packets_carry_none() {
    use PacketKind::{Acknowledgement, Data, DropNotice, NegativeAcknowledgement};
    for kind in [Data, Acknowledgement, NegativeAcknowledgement, DropNotice] {
        let packet = Packet { kind, ..Packet::default() };
        assert_eq!(Signal::of(&packet), None);
        assert!(!kind.is_link_local());
    }
}
