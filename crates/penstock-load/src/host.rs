//! A host: its server, its client, and the loop that drives both.

use std::net::SocketAddr;
use std::sync::Arc;

use penstock_units::Time;
use rustix::event::epoll::EventFlags;

use crate::client::Client;
use crate::clock::Origin;
use crate::congestion::check_congestion;
use crate::error::LoadError;
use crate::flow::{LoadFlow, check_all};
use crate::poll::{EVENTS, Poll, Ready, Source};
use crate::record::HostReport;
use crate::run::{LoadRun, Sending};
use crate::server::Server;
use crate::socket::check_classes;

/// What a host sends and expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSetup {
    /// Where the server of the host listens, for TCP and UDP; port 0 takes a port that is free. None for
    /// a host without a server.
    pub listen: Option<SocketAddr>,
    /// Numbers of the flows that come to this host. The server refuses all others.
    pub expected: Vec<u64>,
    /// The flows that this host sends.
    pub flows: Vec<LoadFlow>,
}

/// A host that is ready to run. It belongs to the network namespace of the thread that made it, and must
/// run on a thread in the same namespace.
#[derive(Debug)]
pub struct LoadHost {
    run: Arc<LoadRun>,
    sending: Sending,
    poll: Poll,
    server: Option<Server>,
    client: Client,
}

impl LoadHost {
    /// Binds the server and checks that all flows can be sent. Nothing is sent. The host counts as one of the
    /// hosts of `run` from now on, even when this function fails.
    ///
    /// # Errors
    /// When a flow cannot be sent as it is described, two flows have one number, the kernel lacks a
    /// congestion control or keeps it, or the server's address cannot be bound.
    pub fn new(run: Arc<LoadRun>, setup: HostSetup) -> Result<Self, LoadError> {
        let sending = Sending::of(Arc::clone(&run));
        check_all(&setup.flows)?;
        check_congestion(&setup.flows)?;
        check_classes(&setup.flows)?;
        let poll = Poll::new()?;
        poll.watch(run.stop_event(), Source::Stop, EventFlags::IN)
            .and_then(|()| poll.watch(run.all_sent_event(), Source::AllSent, EventFlags::IN))
            .map_err(LoadError::system("epoll_ctl"))?;
        let interval = run.options().sample_interval;
        let server = match setup.listen {
            Some(address) => Some(Server::new(address, &setup.expected, interval, &poll)?),
            None => None,
        };
        Ok(LoadHost { run, sending, poll, server, client: Client::new(setup.flows) })
    }

    /// Where the server listens; none without a server.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.as_ref().map(Server::address)
    }

    /// Sends and receives until all flows of the run have ended, the run's end is reached, or the run is
    /// stopped. All hosts of a run need the same `origin`; it may be in the future.
    ///
    /// # Errors
    /// When the kernel refuses a call on which the loop depends.
    pub fn run(mut self, origin: Origin) -> Result<HostReport, LoadError> {
        let mut ready = Vec::with_capacity(EVENTS);
        loop {
            self.on_timer(origin)?;
            if self.is_over(origin) {
                break;
            }
            self.poll.wait(self.deadline(origin), &mut ready)?;
            for event in ready.drain(..) {
                self.on_ready(event, origin)?;
            }
        }
        let now = origin.elapsed();
        let sent = self.client.finish();
        self.sending.end();
        let (received, faults) = self.server.map(|server| server.finish(now)).unwrap_or_default();
        Ok(HostReport { sent, received, faults })
    }

    /// Does what is due by the clock.
    fn on_timer(&mut self, origin: Origin) -> Result<(), LoadError> {
        if origin.is_ahead() {
            return Ok(());
        }
        let now = origin.elapsed();
        if !self.run.is_over(origin) {
            self.client.on_timer(origin, &self.poll);
        }
        if self.client.is_done() {
            self.sending.end();
        }
        match &mut self.server {
            Some(server) => server.on_timer(now, &self.poll),
            None => Ok(()),
        }
    }

    fn on_ready(&mut self, event: Ready, origin: Origin) -> Result<(), LoadError> {
        match (event.source, &mut self.server) {
            (Source::Outgoing(index), _) => {
                let is_over = || self.run.is_over(origin);
                self.client.on_connection(index, event.is_readable, origin, &self.poll, is_over);
            }
            (Source::Incoming(key), Some(server)) => server.on_connection(key, origin),
            (Source::Listener, Some(server)) => server.on_listener(origin, &self.poll)?,
            (Source::Datagrams, Some(server)) => server.on_datagrams(origin),
            // The event stays readable, and its flag tells the rest.
            (Source::AllSent, _) => self
                .poll
                .forget(self.run.all_sent_event())
                .map_err(LoadError::system("epoll_ctl"))?,
            (Source::Stop | Source::Timer | Source::Incoming(_), _) => {}
            (Source::Listener | Source::Datagrams, None) => {}
        }
        // A long list of events must not keep a departure waiting.
        if self.client.next_due().is_some_and(|due| due <= origin.elapsed()) {
            self.on_timer(origin)?;
        }
        Ok(())
    }

    /// When the loop must wake up without an event (ns of CLOCK_MONOTONIC).
    fn deadline(&self, origin: Origin) -> Option<u64> {
        let end = Some(self.run.options().end).filter(|end| *end != Time::NEVER);
        let of_server = self.server.as_ref().and_then(Server::next_due);
        let times = [end, self.client.next_due(), of_server];
        let times = times.into_iter().flatten().map(|time| origin.monotonic_at(time));
        times.chain(self.drained_at()).min()
    }

    /// When the server has waited long enough for what was under way (ns of CLOCK_MONOTONIC); none while
    /// a host sends.
    fn drained_at(&self) -> Option<u64> {
        let drain = self.run.options().drain.as_ps().div_ceil(1_000);
        Some(self.run.all_sent_at()?.saturating_add(drain))
    }

    fn is_over(&self, origin: Origin) -> bool {
        if self.run.is_over(origin) {
            return true;
        }
        let is_drained = || self.drained_at().is_some_and(|at| crate::clock::monotonic() >= at);
        let has_all = self.server.as_ref().is_none_or(Server::has_all);
        self.client.is_done() && (has_all || is_drained())
    }
}
