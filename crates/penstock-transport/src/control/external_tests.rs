use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec;

use super::*;
use crate::config::HostConfig;
use crate::control::ControllerConfig;
use crate::fixture;
use crate::sender::{Readiness, Sender};

const JSON: &str = r#"{"kind":"python","class":"mine:Mine","sha256":null}"#;

/// A class whose controllers have a window of a packet for each event that they have heard, and a timer
/// 1 us after each acknowledgement and each drop at a switch.
#[derive(Debug)]
struct Counting;

#[derive(Debug)]
struct Counter(u64);

impl ControllerClass for Counting {
    fn senses(&self) -> Senses {
        Senses { marks: true, losses: true, ..Senses::default() }
    }

    fn open(&self, flow: &FlowFacts<'_>) -> (Box<dyn ExternalController>, Pace) {
        let window = 1_000 * (1 + flow.number);
        (Box::new(Counter(window)), Pace { window, rate: None, deadline: Time::NEVER })
    }
}

impl ExternalController for Counter {
    fn hear(&mut self, now: Time, event: Event<'_>) -> Pace {
        self.0 += 1_000;
        let rate = matches!(event, Event::Loss(_)).then_some(BitRate::from_gbps(1));
        let starts = matches!(event, Event::Acknowledged(..) | Event::SwitchDrop);
        let deadline = if starts { now + Time::from_us(1) } else { Time::NEVER };
        Pace { window: self.0, rate, deadline }
    }
}

fn config() -> ExternalConfig {
    let supplied = Supplied::with(Arc::new(Counting) as Arc<dyn ControllerClass>);
    ExternalConfig { class: "mine:Mine".into(), sha256: None, supplied }
}

fn host() -> HostConfig {
    HostConfig { controller: ControllerConfig::Python(config()), ..fixture::line_rate() }
}

#[test]
fn a_flow_sends_at_the_pace_that_its_controller_answers() {
    let path = fixture::path();
    let flow = FlowFacts { number: 2, ..host().flow(0, &path) };
    let mut sender = Sender::of(&flow, &host(), Time::ZERO);
    assert_eq!((sender.window(), sender.rate()), (3_000, None));
    sender.send(Time::ZERO);
    assert_eq!(sender.window(), 4_000);
    sender.on_acknowledgement(Time::from_us(9), &Acknowledgement::plain(1_000));
    assert_eq!((sender.window(), sender.readiness(Time::from_us(9))), (5_000, Readiness::Ready));
}

#[test]
fn the_timer_is_heard_when_it_is_due_and_not_before() {
    let path = fixture::path();
    let mut controller = External::new(&config(), &host().flow(0, &path));
    controller.on_acknowledgement(Time::ZERO, &Acknowledgement::plain(0), &FlowView::default());
    assert_eq!((controller.window(), controller.deadline()), (2_000, Time::from_us(1)));
    controller.on_deadline(Time::from_ns(999));
    assert_eq!(controller.window(), 2_000);
    controller.on_deadline(Time::from_us(1));
    assert_eq!((controller.window(), controller.deadline()), (3_000, Time::NEVER));
}

#[test]
fn a_drop_at_a_switch_is_heard_at_its_own_time() {
    let path = fixture::path();
    let mut controller = External::new(&config(), &host().flow(0, &path));
    controller.on_send(Time::ZERO, 1_048);
    controller.on_switch_drop(Time::from_us(5));
    assert_eq!(controller.deadline(), Time::from_us(6));
}

#[test]
fn every_event_reaches_the_controller() {
    let path = fixture::path();
    let mut controller = External::new(&config(), &host().flow(0, &path));
    controller.on_feedback(Time::ZERO, 7);
    controller.on_send(Time::ZERO, 1_048);
    controller.on_switch_drop(Time::ZERO);
    controller.on_timed_pause(Time::ZERO, 0.5);
    controller.on_loss(Time::ZERO, LossSignal::RecoveryExit { in_flight: 0 });
    assert_eq!((controller.window(), controller.rate()), (6_000, Some(BitRate::from_gbps(1))));
}

#[test]
fn a_class_says_what_it_reacts_to() {
    let controller = ControllerConfig::Python(config());
    assert!(controller.uses_marks() && controller.needs_losses());
    assert!(!controller.uses_telemetry() && !controller.uses_feedback());
}

#[test]
fn a_class_that_nobody_supplies_is_refused() {
    let read = |text: &str| {
        let mut problems = Problems::default();
        serde_json::from_str::<ControllerConfig>(text).unwrap().check(&mut problems);
        problems.found().iter().map(|one| one.path.to_string()).collect::<vec::Vec<_>>()
    };
    assert_eq!(read(JSON), ["class"]);
    let mut problems = Problems::default();
    ControllerConfig::Python(config()).check(&mut problems);
    assert!(problems.is_empty(), "{problems}");
    assert_eq!(serde_json::to_string(&ControllerConfig::Python(config())).unwrap(), JSON);
}

#[test]
fn the_state_of_a_controller_is_not_saved() {
    let path = fixture::path();
    let controller = External::new(&config(), &host().flow(0, &path));
    let error = borsh::to_vec(&controller).unwrap_err();
    assert_eq!(error.to_string(), "the state of a class in Python cannot be saved");
    assert!(External::deserialize(&mut [0].as_slice()).is_err());
}
