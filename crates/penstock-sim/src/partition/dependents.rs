//! Flows from hosts of a partition that wait for others: what they have heard, and when they start.
//!
//! What it is: the state of a run beside its plan ([`crate::workload::Plan`]). An event is known at one host:
//! that a flow is received at its destination, that it has started or is acknowledged at its source. A flow
//! that waits at that host learns it at once. A flow that waits at another host hears of the event a window
//! later, because news has to travel; then it does not matter whether that host is in another partition. What
//! it is not: this module does not decide who waits for whom.
//! Invariant: every event takes effect in order of time, and at one time in the order of the waiting flows'
//! numbers. So the results are the same for every number of partitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Observer;
use penstock_units::Time;

use super::Partition;
use super::lifetime::Start;
use crate::measure::dependents::DependentRecord;
use crate::measure::requests::RequestRecord;
use crate::setting::Setting;
use crate::workload::{Event, FlowArrival};

/// An event takes effect for a group of flows that waits, or the group starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub(crate) struct News {
    /// When.
    pub time: Time,
    /// The first flow of the group.
    pub waiter: u64,
    /// The flow of the event, or the one that has released the group; none for a group that waits for
    /// nothing.
    pub awaited: Option<u64>,
    /// The event; none when the group has been released and starts.
    pub event: Option<Event>,
}

/// What flows from hosts of a partition wait for.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Dependents {
    /// What takes effect later, in order.
    due: BTreeSet<News>,
    /// By group that waits for several events: how many have taken effect.
    come: BTreeMap<u64, u32>,
    /// By request that is not answered: when it started.
    asked: BTreeMap<u64, Time>,
    /// Flows of lists and collectives that have started.
    pub started: u64,
}

impl Dependents {
    /// Takes in what will take effect.
    pub(super) fn hear(&mut self, news: News) {
        self.due.insert(news);
    }

    /// When something takes effect next.
    pub(super) fn due(&self) -> Option<Time> {
        self.due.first().map(|news| news.time)
    }

    /// An event takes effect for `waiter`. True when it is the one that releases the group.
    fn count(&mut self, setting: &Setting, waiter: u64) -> bool {
        let waits = setting.plan.waits(waiter);
        if waits.all == 1 {
            return true;
        }
        let come = self.come.entry(waiter).or_default();
        *come += 1;
        let is_released = *come == waits.needed;
        // A group that needs fewer events than there are must not start again with a later one.
        if *come == waits.all {
            self.come.remove(&waiter);
        }
        is_released
    }
}

impl<O> Partition<O> {
    /// The events that have not taken effect, those from elsewhere and for elsewhere included.
    pub(crate) fn coming_news(&self) -> impl Iterator<Item = &News> {
        let mail = self.inbox.iter().chain(&self.outbox);
        self.dependents.due.iter().chain(mail.flat_map(|mail| &mail.news))
    }
}

impl<O: Observer> Partition<O> {
    /// Takes in the groups from hosts here that wait for nothing.
    pub(super) fn expect_roots(&mut self) {
        let setting = Arc::clone(&self.setting);
        setting.plan.roots(|waiter, time| {
            if self.owner(waiter) == self.number {
                self.dependents.hear(News { time, waiter, awaited: None, event: None });
            }
        });
    }

    /// The partition from which flow `number` of the plan starts.
    fn owner(&self, number: u64) -> usize {
        let (flow, ..) = self.setting.plan.flow(number);
        self.setting.placement.of_node(flow.source).0
    }

    /// A data packet of the flow named `name` has arrived, and others wait for the last byte.
    #[cold]
    pub(super) fn look_for_receipt(&mut self, now: Time, name: u32) {
        let flow = &mut self.slots.flows[name as usize];
        if self.flows.receiver(name).delivered() < flow.size {
            return;
        }
        flow.is_receipt_awaited = false;
        let (number, host) = (flow.number, flow.destination);
        self.on_received(now, number, host);
    }

    /// The last byte of flow `number`, for which others wait, has arrived at `host`.
    pub(super) fn on_received(&mut self, now: Time, number: u64, host: u32) {
        if let Some(place) = self.setting.plan.job(number) {
            self.measured.jobs.on_receipt(place, now);
        }
        self.tell(now, number, Event::Received, host);
    }

    /// The last byte of flow `number` is acknowledged at its `source`.
    pub(super) fn on_acknowledged(&mut self, now: Time, number: u64, source: u32) {
        if self.setting.plan.covers(number) {
            self.tell(now, number, Event::Acknowledged, source);
        }
    }

    /// Tells everybody that waits for `event` of flow `number`, which `host` knows now. Other hosts hear of
    /// it by mail, also those of this partition: so it does not matter where the partitions lie.
    fn tell(&mut self, now: Time, number: u64, event: Event, host: u32) {
        let setting = Arc::clone(&self.setting);
        let mut is_posted = false;
        setting.plan.dependents(number, event, |edge| {
            let (waiting, ..) = setting.plan.flow(edge.waiter);
            let is_here = waiting.source == host;
            let known = if is_here { now } else { now + setting.window };
            let time = known.saturating_add(edge.delay).max(edge.earliest);
            let (awaited, event) = (Some(number), Some(event));
            let news = News { time, waiter: edge.waiter, awaited, event };
            if is_here {
                return self.dependents.hear(news);
            }
            let (partition, _) = setting.placement.of_node(waiting.source);
            let mail = &mut self.outbox[partition];
            mail.note_time(time);
            mail.news.push(news);
            is_posted = true;
        });
        if is_posted {
            self.end_windows(now);
        }
        self.expect_flow();
    }

    /// What is due first takes effect now.
    pub(super) fn on_news(&mut self, now: Time) {
        let Some(news) = self.dependents.due.pop_first() else { return };
        let setting = Arc::clone(&self.setting);
        if news.event.is_none() {
            return self.start_group(now, &setting, &news);
        }
        if self.dependents.count(&setting, news.waiter) {
            self.measure_request(now, &setting, &news);
            match setting.plan.start(news.waiter, now) {
                Some(time) if time == now => return self.start_group(now, &setting, &news),
                Some(time) => self.dependents.hear(News { time, event: None, ..news }),
                None => {}
            }
        }
        // When nothing else is to come, the run is over at the end of this window.
        self.end_windows(now);
    }

    /// The group of `news` starts.
    fn start_group(&mut self, now: Time, setting: &Setting, news: &News) {
        for number in setting.plan.group(news.waiter) {
            let (flow, label, class) = setting.plan.flow(number);
            let arrival = FlowArrival {
                time: now,
                source: flow.source,
                destination: flow.destination,
                size: flow.size,
                label,
                class,
                destination_port: 0,
                lasts: Time::ZERO,
            };
            let start = Start { number, arrival };
            let step = setting.plan.step(number);
            if let Some(released_by) = news.awaited {
                let row = DependentRecord { time: now, flow: number, released_by, step };
                self.measured.dependents.push(&row);
            }
            if let Some(place) = setting.plan.job(number) {
                self.measured.jobs.on_start(place, now);
            }
            self.dependents.started += u64::from(number < setting.plan.count());
            self.start_flow(now, &start);
            let (partition, _) = setting.placement.of_node(flow.destination);
            let is_inside = setting.topology.inner_links(flow.source, flow.destination).is_some();
            if partition != self.number && !is_inside {
                self.outbox[partition].starts.push(start);
            }
            self.tell(now, number, Event::Started, flow.source);
        }
        if setting.plan.is_request(news.waiter) {
            self.dependents.asked.insert(news.waiter, now);
        }
    }

    /// A dependent flow to a host here has started elsewhere. Its packets have not arrived: they take a
    /// window at least.
    pub(super) fn expect_dependent(&mut self, start: &Start) {
        let setting = Arc::clone(&self.setting);
        let changes = &setting.route_changes;
        let made = changes.partition_point(|change| change.time <= start.arrival.time);
        if made == self.next_change {
            return self.start_flow(start.arrival.time, start);
        }
        // The routes have changed since the flow started.
        let first = self.router.first();
        let routing = made.checked_sub(1).map_or(&first, |last| &changes[last].routing);
        let present = self.router.change(routing);
        self.start_flow(start.arrival.time, start);
        self.router.change(&present);
    }

    /// The group of `news` is released. Where it is the next request of a slot, the last one is answered.
    fn measure_request(&mut self, now: Time, setting: &Setting, news: &News) {
        let plan = &setting.plan;
        if !plan.is_request(news.waiter) {
            return;
        }
        let asked = plan.previous(news.waiter).and_then(|request| {
            self.dependents.asked.remove(&request).map(|start| (request, start))
        });
        let (Some((request, start)), Some(slowest)) = (asked, news.awaited) else { return };
        let (flow, label, _) = plan.flow(request);
        let row = RequestRecord {
            flow: request,
            label,
            client: flow.source,
            slot: plan.step(request).rank,
            number: plan.step(request).iteration,
            start,
            end: now,
            fan_out: plan.group(request).count() as u32,
            slowest,
        };
        self.measured.requests.push(&row);
    }
}
