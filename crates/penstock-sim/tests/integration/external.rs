//! Policies whose code a program supplies: in a whole simulation they are as good as those of ours.

use std::convert::Infallible;
use std::sync::Arc;

use penstock_sim::external::{
    ActiveQueue, ControllerClass, Egress, Event, ExternalController, ExternalMarking,
    ExternalScheduling, FlowFacts, Library, MarkingClass, MarkingPoint, Pace, SchedulingClass,
    Seen, Senses, SwitchFacts, Verdict,
};
use penstock_sim::{RunOptions, Scenario};
use penstock_units::Time;
use serde_json::{Value, json};

use crate::fixture::{MS, dctcp, incast, parse, scenario, single_switch, with};

/// Every class: one BDP in flight, a step of 100 kB at dequeue, the first queue first.
#[derive(Debug)]
struct Plain;

impl Library for Plain {
    type Error = Infallible;

    fn controller(&self, _: &str, _: Option<&str>) -> Result<Arc<dyn ControllerClass>, Infallible> {
        Ok(Arc::new(Plain))
    }

    fn marking(&self, _: &str, _: Option<&str>) -> Result<Arc<dyn MarkingClass>, Infallible> {
        Ok(Arc::new(Plain))
    }

    fn scheduling(&self, _: &str, _: Option<&str>) -> Result<Arc<dyn SchedulingClass>, Infallible> {
        Ok(Arc::new(Plain))
    }
}

impl ControllerClass for Plain {
    fn senses(&self) -> Senses {
        Senses { marks: true, ..Senses::default() }
    }

    fn open(&self, flow: &FlowFacts<'_>) -> (Box<dyn ExternalController>, Pace) {
        let pace = Pace { window: flow.path.bdp.get(), rate: None, deadline: Time::NEVER };
        (Box::new(Constant(pace)), pace)
    }
}

#[derive(Debug)]
struct Constant(Pace);

impl ExternalController for Constant {
    fn hear(&mut self, _: Time, _: Event<'_>) -> Pace {
        self.0
    }
}

impl MarkingClass for Plain {
    fn open(&self, _: &SwitchFacts) -> Box<dyn ExternalMarking> {
        Box::new(Plain)
    }
}

impl ExternalMarking for Plain {
    fn mark(&mut self, seen: &Seen) -> Verdict {
        Verdict::Marked(seen.point == MarkingPoint::Dequeue && seen.queue_bytes > 100_000)
    }
}

impl SchedulingClass for Plain {
    fn open(&self, _: &Egress) -> Box<dyn ExternalScheduling> {
        Box::new(Plain)
    }
}

impl ExternalScheduling for Plain {
    fn activate(&mut self, _: u32, _: u8) {}

    fn deactivate(&mut self, _: u32) {}

    fn select(&mut self, _: Time, queues: &[ActiveQueue]) -> u32 {
        queues[0].number
    }

    fn sent(&mut self, _: u32, _: u32) {}
}

/// DCTCP with one step of marking, eight flows to one receiver.
fn stepped() -> Value {
    let scheme = with(dctcp(), "/switch/marking/kmax", 100_000);
    scenario(single_switch(9), scheme, &[incast(8, 300_000, Some(8))], MS)
}

/// The same with a class at `pointer`.
fn outside(scenario: Value, pointer: &str) -> Value {
    with(scenario, pointer, json!({"kind": "python", "class": "mine:Mine", "sha256": null}))
}

fn supplied(scenario: &Value) -> Scenario {
    let mut scenario = parse(scenario);
    let Ok(()) = scenario.supply(&Plain);
    scenario
}

fn digest(scenario: &Scenario) -> String {
    let options = RunOptions { check: true, threads: 2, ..RunOptions::default() };
    let results = penstock_sim::run(scenario, options, |_| true).unwrap();
    assert_eq!(results.summary.flows_finished, 8);
    results.summary.digest
}

#[test]
fn the_same_rule_gives_the_same_digest_inside_and_outside() {
    let plain = digest(&parse(&stepped()));
    for pointer in ["/scheme/switch/marking", "/scheme/switch/scheduling"] {
        assert_eq!(digest(&supplied(&outside(stepped(), pointer))), plain, "{pointer}");
    }
    let window = json!({"kind": "window", "bdp_factor": 1.0});
    let window = digest(&parse(&with(stepped(), "/scheme/host/controller", window)));
    let outside = outside(stepped(), "/scheme/host/controller");
    assert_eq!(digest(&supplied(&outside)), window);
    assert_ne!(window, plain);
}

#[test]
fn a_scenario_says_whether_it_has_such_a_policy_and_is_refused_without_the_code() {
    let pointers =
        ["/scheme/host/controller", "/scheme/switch/marking", "/scheme/switch/scheduling"];
    assert!(!parse(&stepped()).is_external());
    for pointer in pointers {
        let scenario = parse(&outside(stepped(), pointer));
        assert!(scenario.is_external());
        let error = penstock_sim::validate(&scenario).unwrap_err();
        let field = format!("{}.class", pointer[1..].replace('/', "."));
        assert_eq!(error.problems()[0].path, field);
        let other = with(outside(stepped(), pointer), "/fidelity", "ns3-hpcc");
        let error = penstock_sim::validate(&supplied(&other)).unwrap_err();
        let field = format!("{}.kind", pointer[1..].replace('/', "."));
        assert!(error.problems().iter().any(|one| one.path == field), "{error}");
    }
    let others = json!([{"label": "incast", "controller": {"kind": "python", "class": "mine:Mine",
                                                           "sha256": null}}]);
    let mixed = with(stepped(), "/scheme/host/other_controllers", others);
    assert_eq!(digest(&supplied(&mixed)).len(), 32);
}
