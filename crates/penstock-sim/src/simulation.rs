//! A simulation: partitions that run window by window. The `conductor` decides between windows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use penstock_engine::windows;
use penstock_packet::Observer;
use penstock_units::Time;

use crate::deadlock::DeadlockWatch;
use crate::error::{InvariantError, RunError, ScenarioError, StandstillError};
use crate::levels;
use crate::network::Network;
use crate::partition::{self, LOOK_EVENTS, Partition};
use crate::placement::Placement;
use crate::rows::{self, Record};
use crate::scenario::Scenario;
use crate::setting::Setting;
use crate::topology::Topology;
use crate::watch::{RunOptions, Watch};
use crate::workload::Workload;
use conductor::Conductor;

pub mod checkpoint;
pub(crate) mod conductor;

/// A simulation: a network, its traffic, its clock, and everything measured so far.
pub struct Simulation<O> {
    pub(crate) setting: Arc<Setting>,
    pub(crate) partitions: Vec<Mutex<Partition<O>>>,
    pub(crate) conductor: Conductor,
    /// In [`Simulation::advance`]: the partition that runs, while a window is open.
    turn: Option<usize>,
}

impl<O: Observer> Simulation<O> {
    /// Prepares a run of `scenario` on `network`, on one thread.
    ///
    /// # Errors
    /// When the traffic does not fit the network.
    pub fn new(scenario: &Scenario, network: Network, observer: O) -> Result<Self, ScenarioError> {
        let mut observer = Some(observer);
        let only = || observer.take().expect("one partition has one observer");
        Self::partitioned(scenario, network, 1, only)
    }

    /// Prepares a run of `scenario` on `network`, in at most `partitions` partitions. Each has an
    /// observer of its own.
    ///
    /// # Errors
    /// When the traffic does not fit the network.
    pub fn partitioned(
        scenario: &Scenario,
        network: Network,
        partitions: usize,
        observer: impl FnMut() -> O,
    ) -> Result<Self, ScenarioError> {
        let workload = scenario.workload(&network.topology, &network.routing)?;
        let place = |topology: &_, window| Placement::new(topology, window, partitions);
        Self::placed(scenario, workload, network, place, observer)
    }

    /// Prepares a run of `scenario` with its `workload` on `network`, in the partitions of `place`
    /// ([`Setting::new`](crate::setting::Setting::new)).
    pub(crate) fn placed(
        scenario: &Scenario,
        workload: Workload,
        mut network: Network,
        place: impl FnOnce(&Topology, Time) -> Placement,
        observer: impl FnMut() -> O,
    ) -> Result<Self, ScenarioError> {
        let scenario = levels::resolved(scenario, &network)?;
        let deadlock_watch = DeadlockWatch::new(&network);
        let setting = Arc::new(Setting::new(scenario, &mut network, place));
        let partitions = partition::partitions(&setting, network, observer);
        Ok(Simulation {
            conductor: Conductor::new(&setting, workload, deadlock_watch),
            partitions: partitions.into_iter().map(Mutex::new).collect(),
            setting,
            turn: None,
        })
    }

    /// Simulated time: the last event of the partition that is furthest, or the end of the last window that
    /// is over.
    pub fn now(&mut self) -> Time {
        let is_over = self.turn.is_none() && !self.conductor.is_announced;
        let partitions = self.partitions.iter_mut().map(|one| whole(one.get_mut()).now());
        partitions.fold(if is_over { self.conductor.now } else { Time::ZERO }, Time::max)
    }

    /// Processes up to `events` events on this thread; false when the run is over.
    ///
    /// # Errors
    /// When time stands still.
    pub fn advance(&mut self, events: u64) -> Result<bool, StandstillError> {
        let mut left = events;
        while left > 0 && !self.conductor.is_done {
            let Some(turn) = self.turn else {
                if !self.between() {
                    break;
                }
                let end = self.conductor.now;
                self.partitions.iter_mut().for_each(|one| whole(one.get_mut()).open_window(end));
                self.turn = Some(0);
                continue;
            };
            let partition = whole(self.partitions[turn].get_mut());
            let before = partition.measured.steps;
            let is_over = partition.advance(left)?;
            left -= left.min(partition.measured.steps - before);
            if is_over {
                self.turn = Some(turn + 1).filter(|&next| next < self.partitions.len());
            }
        }
        Ok(!self.conductor.is_done)
    }

    /// Ends the window that [`Simulation::advance`] has left open, if there is one.
    fn end_window(&mut self) -> Result<(), StandstillError> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        let mut left = self.partitions[turn..].iter_mut();
        left.try_for_each(|one| whole(one.get_mut()).advance(u64::MAX).map(drop))
    }

    /// Decides what there is to decide between windows; false when the run is over.
    fn between(&mut self) -> bool {
        // A single partition is the usual case, and needs no list.
        match &self.partitions[..] {
            [only] => self.conductor.next(&mut [lock(only)]),
            all => self.conductor.next(&mut locked(all)),
        }
    }

    /// From now on, also checks the order of arrivals, where the scheme keeps it.
    pub fn watch_order(&mut self) {
        self.partitions.iter_mut().for_each(|one| whole(one.get_mut()).watch_order());
    }

    /// Checks that nothing is lost or counted twice.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn verify(&self) -> Result<(), InvariantError> {
        crate::check::verify(&self.setting, &locked(&self.partitions))
    }

    /// Runs from where the simulation stands to the end, on `options.threads` threads, or as many as there
    /// are cores. True when `watch` has stopped it; then it may be saved, or run again.
    ///
    /// # Errors
    /// When time stands still, or an invariant fails while it is checked.
    pub fn run(&mut self, options: RunOptions, watch: &mut dyn Watch) -> Result<bool, RunError>
    where
        O: Record + Send,
    {
        self.end_window()?;
        let Simulation { setting, partitions, conductor, .. } = self;
        let end = setting.scenario.duration + setting.scenario.drain;
        let mut reported = conductor.progress(&locked(partitions), end).events;
        let mut outcome = Ok(false);
        windows::run(
            partitions,
            options.threads.min(processors()),
            |partition, end| partition.run_window(end),
            || {
                let mut partitions = locked(partitions);
                if let Some(error) = partitions.iter_mut().find_map(|one| one.failure.take()) {
                    outcome = Err(error.into());
                    return None;
                }
                let goes_on = conductor.next(&mut partitions);
                let mut is_stopped = rows::count(&conductor.flows, &partitions) > options.most_rows
                    && !watch.rows(rows::take(setting, &mut conductor.flows, &mut partitions));
                let progress = conductor.progress(&partitions, end);
                let looks = progress.events >= reported + LOOK_EVENTS || !goes_on;
                if looks {
                    reported = progress.events;
                    if options.check
                        && let Err(error) = crate::check::verify(setting, &partitions)
                    {
                        outcome = Err(error.into());
                        return None;
                    }
                }
                is_stopped |= goes_on && (looks || watch.is_close()) && !watch.progress(progress);
                if is_stopped {
                    conductor.is_announced = goes_on;
                    outcome = Ok(true);
                    return None;
                }
                goes_on.then(|| conductor.window())
            },
        );
        outcome
    }
}

/// How many threads this process may run at once, by its affinity and by the quota of its control group (a
/// container has one); 1 when the system does not say. More would only wait for each other: with four on two
/// cores, runs took up to a fifth longer.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What a mutex holds, also when a thread has panicked: then the run ends anyway.
pub(crate) fn whole<T>(held: Result<T, PoisonError<T>>) -> T {
    held.unwrap_or_else(PoisonError::into_inner)
}

fn lock<O>(partition: &Mutex<Partition<O>>) -> MutexGuard<'_, Partition<O>> {
    whole(partition.lock())
}

fn locked<O>(partitions: &[Mutex<Partition<O>>]) -> Vec<MutexGuard<'_, Partition<O>>> {
    partitions.iter().map(lock).collect()
}
