//! The simulator as the driver of hosts. The driver hands packets to hosts, does what hosts ask
//! for, and measures.

use penstock_engine::stream;
use penstock_packet::{Observer, PacketId, PacketKind};
use penstock_transport::{Host, HostDraws, HostFacts, Request, Timer, Turn};
use penstock_units::Time;
use penstock_units::random::Pcg32;
use rand_core::RngCore;

use super::Partition;
use super::clock::Sources;
use super::lifetime::BYTE_TIME_BITS;
use crate::network::Network;
use crate::scenario::Scenario;

/// The generator of the stream called `name`.
pub(super) fn random(seed: u64, name: &str) -> Pcg32 {
    let mut named = stream(seed, name);
    Pcg32::new(named.next_u64(), named.next_u64())
}

/// Makes a host of `scenario`, by number, with the credits that its switch grants from the start.
pub(super) fn maker(scenario: &Scenario, network: &Network) -> impl Fn(u32) -> Host {
    let configs = scenario.scheme.host.of_controllers();
    let shaping = scenario.scheme.switch.scheduling.credit_shaping();
    move |host: u32| {
        let link = &network.topology.links[network.uplinks[host as usize] as usize];
        let mut built = Host::new(&HostFacts {
            configs: &configs,
            classes: scenario.scheme.switch.assignment.classes(),
            epoch_bits: scenario.scheme.switch.assignment.epoch_bits(),
            rate: link.rate,
            hop_delay: link.delay,
            frames: network.frames.of_hosts(),
            path: network.path,
            shaping,
            draws: HostDraws {
                nic: random(scenario.seed, &format!("nic/{host}")),
                credits: random(scenario.seed, &format!("credits/{host}")),
            },
            clock: clock(&mut random(scenario.seed, &format!("clock/{host}"))),
        });
        if let Some(balance) = network.opening_balance(network.uplinks[host as usize]) {
            built.connect(balance);
        }
        built
    }
}

/// The error of a host's clock as a share of the largest one: uniform from -1 to 1.
fn clock(random: &mut Pcg32) -> f64 {
    f64::from(random.next_u32() as i32) / f64::from(1u32 << 31)
}

impl<O: Observer> Partition<O> {
    /// A host, and everything that it borrows for one call.
    #[inline(always)]
    pub(crate) fn lend(&mut self, now: Time, host: u32) -> (&mut Host, Turn<'_>) {
        let turn = Turn {
            now,
            pool: &mut self.pool,
            flows: &mut self.flows,
            requests: &mut self.requests,
        };
        (&mut self.hosts[host as usize], turn)
    }

    /// Does what `host` asks for.
    #[inline]
    pub(crate) fn serve(&mut self, now: Time, host: u32) {
        if !self.requests.is_empty() {
            self.serve_all(now, host);
        }
    }

    #[inline(never)] // `serve` stays a look at an empty list in its callers: 5 instructions a packet-hop
    fn serve_all(&mut self, now: Time, host: u32) {
        while let Some(request) = self.requests.poll() {
            match request {
                Request::Timer(timer, time) => {
                    self.wheel.schedule_earlier(self.timer(host, timer), time);
                }
                Request::Alarm(time) => self.move_alarm(now, host, time),
                Request::Completed(flow) => self.end_flow(now, flow),
                Request::Ready => self.offer(now, self.uplinks[host as usize]),
                Request::Lapsed(subject) => {
                    self.note_lapse(now, host, self.uplinks[host as usize], subject);
                }
                Request::Due(timer) => {
                    let (node, mut turn) = self.lend(now, host);
                    node.on_timer(&mut turn, timer);
                }
            }
        }
    }

    /// The source of events that stands for a timer of `host`.
    #[inline]
    fn timer(&self, host: u32, timer: Timer) -> u32 {
        match timer {
            Timer::Sender(flow) => self.sources.sender(flow),
            Timer::Receiver(flow) => self.sources.receiver(flow),
            Timer::Uplink => self.sources.release(self.uplinks[host as usize]),
        }
    }

    /// The uplink of `host` is free: takes the packet that `host` sends next, if any, and says whether
    /// another waits behind it. The caller serves the requests of `host` afterwards.
    #[inline(always)] // it has one caller
    pub(crate) fn depart_from_host(&mut self, now: Time, host: u32) -> Option<(PacketId, bool)> {
        let (node, mut turn) = self.lend(now, host);
        let Some(id) = node.transmit(&mut turn) else {
            self.sleep(now, host);
            return None;
        };
        let more = node.has_more();
        self.pool[id].hop = 1;
        Some((id, more))
    }

    /// Sets the alarm of `host` to the time when its first paced flow may send, at `earliest` or
    /// later. In the ns-3 HPCC simulator an alarm that is set already stays unchanged.
    pub(super) fn sleep(&mut self, earliest: Time, host: u32) {
        let alarm = self.sources.host(host);
        if self.ns3.is_some() && self.wheel.is_pending(alarm) {
            return;
        }
        if let Some(time) = self.hosts[host as usize].ready_at(&self.flows, earliest) {
            self.wheel.schedule_earlier(alarm, time);
        }
    }

    /// A flow of `host` may send at `time`: moves a later alarm of `host` to `time`.
    fn move_alarm(&mut self, now: Time, host: u32, time: Time) {
        let alarm = self.sources.host(host);
        if self.wheel.is_pending(alarm) && time < self.wheel.due(alarm) {
            self.wheel.cancel(alarm);
            self.wheel.schedule(alarm, time.max(now));
        }
    }

    #[inline]
    pub(crate) fn on_host_arrival(&mut self, now: Time, host: u32, id: PacketId) {
        let kind = self.pool[id].kind;
        let mut awaited = None;
        if kind == PacketKind::Data {
            awaited = self.measure_delivery(now, id);
        } else if kind.is_link_local() && !self.reaches(now, host, self.uplinks[host as usize], id)
        {
            return;
        }
        let (node, mut turn) = self.lend(now, host);
        node.receive(&mut turn, id);
        if let Some(flow) = awaited {
            self.look_for_receipt(now, flow);
        }
        self.serve(now, host);
    }

    /// A data packet has arrived at its destination. Answers the name of its flow when others wait for the
    /// last byte of the flow.
    #[inline]
    fn measure_delivery(&mut self, now: Time, id: PacketId) -> Option<u32> {
        let packet = &self.pool[id];
        self.measured.arrived_payload += u64::from(packet.payload);
        let flow = self.slots.receiving(packet.flow)?;
        if let Some(order) = &mut self.order {
            order.on_arrival(packet.flow, flow.number, packet);
        }
        let unloaded = flow.latency.as_ps()
            + ((u64::from(packet.wire_bytes) * flow.byte_time) >> BYTE_TIME_BITS);
        let queued = (now - packet.sent_at).as_ps().saturating_sub(unloaded);
        self.measured.delays[usize::from(flow.label)].record(queued);
        flow.is_receipt_awaited.then_some(packet.flow)
    }

    /// Timer number `timer` of the flows is due.
    pub(crate) fn on_flow_timer(&mut self, now: Time, timer: u32) {
        let name = Sources::flow(timer);
        let flow = &self.slots.flows[name as usize];
        let (host, timer) = match timer % 2 {
            0 => (flow.destination, Timer::Receiver(name)),
            _ => (flow.source, Timer::Sender(name)),
        };
        let host = self.host_place(host);
        let (node, mut turn) = self.lend(now, host);
        node.on_timer(&mut turn, timer);
        self.serve(now, host);
    }
}
