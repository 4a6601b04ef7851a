//! A run from beginning to end: namespaces, drives, load, programs, results.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use penstock_load::RunOptions;
use penstock_packet::Unobserved;
use penstock_sim::live::{LiveFlow, LiveRun, Part};
use penstock_sim::{Scenario, ScenarioError};
use penstock_units::{Problems, Time};

use crate::assemble::{Assembly, assemble, build, in_order};
use crate::capacity;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::config::EmulationConfig;
use crate::controls::Controls;
use crate::drive::Drive;
use crate::error::EmulationError;
use crate::glance::{Board, Glance};
use crate::hosts::{self, Places};
use crate::load::Load;
use crate::missed::Before;
use crate::namespace::{HostNamespace, PacketSocket, TapDevice, enter};
use crate::outcome::{Connections, Lateness, Outcome};
use crate::port::Port;
use crate::processors::Processors;
use crate::programs::Programs;

/// The time from the last preparation to the start of a run, in which threads come up (our choice).
const AHEAD: Time = Time::from_ms(50);

/// How often the end of a run is looked for (our choice).
const LOOK: Duration = Duration::from_millis(5);

/// Who follows a run: gets its time, and a glance at it when there is a new one; false stops the run.
pub type GoesOn<'a> = dyn FnMut(Time, Option<Glance>) -> bool + 'a;

/// Emulates `scenario`. `goes_on` hears of the time of the run every few milliseconds, and now and then sees
/// a glance; false stops the run, which keeps what has happened. The process must have one thread; it does
/// not return to what it was before, see [`enter`].
///
/// # Errors
/// When the scenario is refused, namespaces are forbidden, the kernel lacks a congestion control, a program
/// does not exist, or a device fails.
pub fn emulate(
    scenario: &Scenario,
    config: &EmulationConfig,
    goes_on: &mut GoesOn<'_>,
) -> Result<Outcome, EmulationError> {
    check_trace(scenario)?;
    let (run, parts) = build(scenario, &config.kernels, config.nic_memory, |_| Unobserved)?;
    let controls = Controls::of(run.flows(), config);
    let processors = Processors::split();
    processors.iter().for_each(Processors::leave_to_network);
    let demand = capacity::demand(scenario, config, run.topology(), run.flows());
    let mut places = hosts::create(enter()?, scenario, config, &controls)?;
    let copies = capacity::check(scenario, config, &mut places, processors.as_ref(), demand)?;
    let Places { hosts, taps, mut sockets } = places;
    let before = Before::count(&hosts, config, sockets.values())?;
    let clock = Clock::starting_in(AHEAD, config.scale_time);
    let socket = |host: u32| sockets.remove(&host).expect("a host of ours has a socket");
    let capture = config.capture.as_deref().map(|path| Capture::new(path, hosts.len() as u32));
    let assembly = assemble(scenario, clock, (run, parts), taps, socket, capture.transpose()?)?;
    let load = Load::prepare(scenario, (config, &controls), &hosts, assembly.run.flows(), clock)?;
    let programs = Programs::start(&hosts, config)?;
    let machine = Machine { processors, copies, hosts, before };
    drive(scenario, assembly, (clock, config.scale_time), (load, programs), machine, goes_on)
}

/// Refuses a packet trace: nobody writes one in real time, and its table would be empty.
fn check_trace(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut problems = Problems::default();
    let remedy = "in real time no packets are listed; leave it out and take --capture, or simulate the \
                  scenario";
    problems.unless(scenario.measure.trace.is_none(), "measure.trace", "a packet trace", remedy);
    ScenarioError::unless_none(problems)
}

/// What a run knows of the machine.
struct Machine {
    processors: Option<Processors>,
    /// Frames a second that it copied before the run.
    copies: f64,
    /// Where its hosts live.
    hosts: Vec<HostNamespace>,
    /// What their devices had counted before the run.
    before: Before,
}

/// Drives everything until the run is over.
fn drive(
    scenario: &Scenario,
    assembly: Assembly<Unobserved, TapDevice, PacketSocket, Option<Capture>>,
    (clock, scale_time): (Clock, u32),
    (load, programs): (Load, Programs),
    Machine { processors, copies, hosts: places, before }: Machine,
    goes_on: &mut GoesOn<'_>,
) -> Result<Outcome, EmulationError> {
    let Assembly { run, mut network, mut hosts, idle } = assembly;
    let end = scenario.duration + scenario.drain;
    let goal = Goal::of(&run, scenario.duration);
    let has_ours = hosts.has_parts();
    let (mut quiet, is_busy) = (Quiet::of(&run, clock), AtomicBool::new(false));
    let (stop, is_done) = (AtomicBool::new(false), AtomicBool::new(!has_ours));
    let (mut outcome, board) = (Ok(()), Board::default());
    thread::scope(|scope| {
        let of_network = scope.spawn(|| {
            processors.iter().for_each(Processors::for_network);
            let mut publish = board.publisher();
            network.run_while(end, &stop, |network| {
                publish(network);
                if load.has_sent_all() && network.stores_data() {
                    is_busy.store(true, Ordering::Relaxed);
                }
                true
            })
        });
        let of_hosts = scope.spawn(|| {
            if !has_ours {
                return Ok(());
            }
            let goes_on =
                |hosts: &Drive<_, _, _>| !goal.is_reached(finished(hosts.parts()), clock.now());
            let driven = hosts.run_while(end, &stop, goes_on);
            is_done.store(driven.is_ok(), Ordering::Relaxed);
            driven
        });
        loop {
            let now = clock.now();
            let was_busy = !load.has_sent_all() || is_busy.swap(false, Ordering::Relaxed);
            let is_delivered = load.is_over() || quiet.is_over(was_busy, now);
            let is_over = is_done.load(Ordering::Relaxed) && is_delivered && programs.are_over();
            // A drive that ends before its work is done has failed.
            let has_failed = of_network.is_finished()
                || (of_hosts.is_finished() && !is_done.load(Ordering::Relaxed));
            if is_over || now >= end || has_failed || !goes_on(now, board.take()) {
                break;
            }
            thread::sleep(LOOK);
        }
        stop.store(true, Ordering::Relaxed);
        let driven = [of_network, of_hosts].map(|thread| thread.join());
        for result in driven {
            let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome = std::mem::replace(&mut outcome, Ok(())).and(result);
        }
    });
    outcome?;
    let now = clock.now();
    // Before programs send more, which nobody reads.
    let sockets = hosts.take_devices();
    let missed = before.since(&places, hosts.ports().iter().map(Port::host).zip(sockets))?;
    let (records, flows) = load.finish(clock)?;
    let ended = programs.finish()?;
    let (switches, ports, lateness, capture) = network.into_parts();
    capture.map_or(Ok(()), Capture::finish)?;
    let (ours, own, own_lateness, ()) = hosts.into_parts();
    let ours = own.iter().map(|port| port.host()).zip(ours).chain(idle).collect();
    let results = run.finish(in_order(switches, ours), &flows, now);
    Ok(Outcome {
        results,
        scale_time,
        copies,
        connections: Connections::of(&records, clock),
        lateness: [Lateness::of(&lateness), Lateness::of(&own_lateness)],
        refused: ports.iter().map(|port| (port.host(), port.refusals)).collect(),
        missed,
        frames: ports.iter().map(|port| port.received + port.sent).sum(),
        programs: ended,
    })
}

/// How long nothing has been under way to a kernel.
#[derive(Debug)]
struct Quiet {
    /// When something last was.
    since: Time,
    /// How long it takes until what was not delivered counts as lost: what servers wait by default, and the
    /// time on a link.
    patience: Time,
}

impl Quiet {
    fn of(run: &LiveRun<Unobserved>, clock: Clock) -> Self {
        let longest = run.topology().links.iter().map(|link| link.delay).max().unwrap_or_default();
        let patience = clock.in_run(RunOptions::default().drain) + longest;
        Quiet { since: Time::ZERO, patience }
    }

    /// Whether at `now` nothing can come any more; `was_busy` tells of the time since the last question.
    fn is_over(&mut self, was_busy: bool, now: Time) -> bool {
        if was_busy {
            self.since = now;
        }
        now.saturating_sub(self.since) >= self.patience
    }
}

/// When our hosts have nothing left to do, as in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Goal {
    /// So many of their flows have a last byte.
    finite: u64,
    /// So long their endless flows last; 0 without such flows.
    until: Time,
}

impl Goal {
    /// Of the hosts of ours in `run`, whose traffic lasts for `duration`.
    fn of(run: &LiveRun<Unobserved>, duration: Time) -> Self {
        let mut goal = Goal { finite: 0, until: Time::ZERO };
        for LiveFlow { arrival, .. } in run.flows() {
            if run.strangers().binary_search(&arrival.source).is_ok() {
                continue;
            }
            match arrival.is_endless() {
                true => goal.until = duration,
                false => goal.finite += 1,
            }
        }
        goal
    }

    /// Whether it is reached at `now`, when so many flows have finished.
    fn is_reached(self, finished: u64, now: Time) -> bool {
        finished >= self.finite && now >= self.until
    }
}

fn finished(parts: &[Part<Unobserved>]) -> u64 {
    parts.iter().map(Part::flows_finished).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_counts_as_lost_when_nothing_moved_for_long_enough() {
        let mut quiet = Quiet { since: Time::ZERO, patience: Time::from_ms(5) };
        let mut asked = |was_busy, ms| quiet.is_over(was_busy, Time::from_ms(ms));
        assert!(!asked(true, 7) && !asked(false, 11), "busy until 7 ms");
        assert!(!asked(true, 12) && !asked(false, 16) && asked(false, 17));
    }

    #[test]
    fn endless_flows_of_ours_last_as_long_as_the_traffic_and_do_not_finish() {
        let goal = Goal { finite: 2, until: Time::from_ms(30) };
        assert!(!goal.is_reached(1, Time::from_ms(40)), "a flow goes on in the drain");
        assert!(!goal.is_reached(2, Time::from_ms(29)));
        assert!(goal.is_reached(2, Time::from_ms(30)));
        assert!(Goal { until: Time::ZERO, ..goal }.is_reached(2, Time::from_ms(1)));
    }
}
