//! Priority pauses: bytes, times, and what they say about classes.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const SOURCE: MacAddress = MacAddress([2, 0x50, 0x45, 0, 0, 1]);
const RATE: BitRate = BitRate::from_gbps(100);

fn bytes(pause: PriorityPause) -> [u8; 60] {
    let mut frame = [0xff; 60];
    assert_eq!(pause.emit(SOURCE, &mut frame), Ok(60));
    frame
}

#[test]
fn a_frame_has_its_bytes_where_the_standard_has_them() {
    let mut pause = PriorityPause::default();
    (pause.times[0], pause.times[3]) = (Some(0), Some(0x1234));
    let frame = bytes(pause);
    assert_eq!(frame[..6], [0x01, 0x80, 0xc2, 0, 0, 1]);
    assert_eq!(frame[12..18], [0x88, 0x08, 0x01, 0x01, 0x00, 0x09]);
    assert_eq!(frame[18..34], [0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(frame[34..], [0; 26]);
    assert_eq!(PriorityPause::parse(&frame), Ok(pause));
}

#[test]
fn other_frames_are_refused() {
    let good = bytes(PriorityPause::default());
    let with = |place: usize, value: u8| {
        let mut frame = good;
        frame[place] = value;
        PriorityPause::parse(&frame)
    };
    assert_eq!(with(15, 0x00), Err(Malformed::Value(Header::MacControl)));
    assert_eq!(with(13, 0xb5), Err(Malformed::EtherType(0x88b5)));
    assert_eq!(PriorityPause::parse(&good[..33]), Err(Malformed::Short(Header::MacControl)));
    let room = NoRoom { needed: 60, given: 59 };
    assert_eq!(PriorityPause::default().emit(SOURCE, &mut [0; 59]), Err(room));
    assert!(with(16, 0xff).is_ok(), "the high byte of the vector is ignored");
}

#[test]
fn a_quantum_at_100_gbps_is_5_12_ns() {
    assert_eq!(quanta(512, RATE), 100);
    assert_eq!(quanta(513, RATE), 101);
    assert_eq!(nanoseconds(100, RATE), 512);
    assert_eq!(nanoseconds(101, RATE), 518);
    assert_eq!(nanoseconds(u16::MAX, RATE), 335_540);
    assert_eq!(quanta(u32::MAX, RATE), u16::MAX);
    assert_eq!(nanoseconds(u16::MAX, BitRate::from_bps(1_000)), u32::MAX);
    assert_eq!((nanoseconds(1, BitRate::default()), quanta(9, BitRate::default())), (u32::MAX, 0));
}

#[test]
fn the_highest_class_is_the_highest_priority() {
    let pause = PriorityPause::of(Signal::PauseClass(0), RATE).unwrap();
    assert_eq!(pause.times[7], Some(u16::MAX));
    assert!(PriorityPause::of(Signal::PauseClass(8), RATE).is_none());
    assert!(PriorityPause::of(Signal::PauseQueue(1), RATE).is_none());
    assert!((0..8).all(|class| priority_of(priority_of(class)) == class));
}

#[test]
fn a_timed_pause_is_never_one_without_an_end() {
    let time = |nanoseconds, rate| {
        let pause = PriorityPause::of(Signal::PauseClassFor { class: 7, nanoseconds }, rate);
        pause.unwrap().times[0]
    };
    assert_eq!(time(u32::MAX, RATE), Some(u16::MAX - 1));
    assert_eq!(time(1, BitRate::default()), Some(1));
}

#[test]
fn a_frame_about_several_classes_gives_several_signals() {
    let mut pause = PriorityPause::default();
    (pause.times[7], pause.times[6], pause.times[0]) = (Some(0), Some(u16::MAX), Some(2));
    let signals: Vec<Signal> = pause.signals(RATE).collect();
    let timed = Signal::PauseClassFor { class: 7, nanoseconds: 11 };
    assert_eq!(signals, [Signal::ResumeClass(0), Signal::PauseClass(1), timed]);
}

fn read(signal: Signal, rate: BitRate) -> Vec<Signal> {
    let pause = PriorityPause::of(signal, rate).unwrap();
    PriorityPause::parse(&bytes(pause)).unwrap().signals(rate).collect()
}

proptest! {
    #[test]
    fn pauses_without_an_end_and_resumes_survive(class in 0..8u8, bps in any::<u64>()) {
        for signal in [Signal::PauseClass(class), Signal::ResumeClass(class)] {
            prop_assert_eq!(read(signal, BitRate::from_bps(bps)), [signal]);
        }
    }

    #[test]
    fn a_timed_pause_gets_at_most_a_quantum_longer(
        class in 0..8u8,
        time in 1..300_000u32,
        bps in 1_000_000..100_000_000_000u64,
    ) {
        let rate = BitRate::from_bps(bps);
        let [Signal::PauseClassFor { class: read, nanoseconds: longer }] =
            read(Signal::PauseClassFor { class, nanoseconds: time }, rate)[..]
        else {
            return Err(TestCaseError::fail("another signal"));
        };
        prop_assert_eq!(read, class);
        prop_assert!(longer >= time && longer - time <= nanoseconds(1, rate));
    }

    #[test]
    fn a_frame_survives_its_bytes(times in any::<[Option<u16>; 8]>()) {
        let pause = PriorityPause { times };
        prop_assert_eq!(PriorityPause::parse(&bytes(pause)), Ok(pause));
    }
}
