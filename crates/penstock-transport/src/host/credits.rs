//! ExpressPass (I. Cho et al., SIGCOMM 2017): the receiver sends credits, and the sender turns each
//! credit into a data packet. Where only credits wait, the timer of the uplink tells when the tokens
//! suffice.

use penstock_packet::{Packet, PacketId, PacketKind};
use penstock_units::Time;

use super::{Host, Request, Timer, Turn};
use crate::credit::CreditSignal;
use crate::sender::CreditUse;

impl Host {
    /// The next credit or credited data packet. Without one, asks for a timer at the time when the
    /// tokens suffice for the waiting credit.
    #[inline]
    pub(super) fn next_credited(&mut self, turn: &mut Turn<'_>) -> Option<PacketId> {
        let credited = self.credited.as_mut()?;
        let credit = credited.credits.pop(turn.now, turn.pool);
        let id = credit.or_else(|| credited.data.pop(turn.pool));
        if id.is_none()
            && let Some(due) = credited.credits.due()
        {
            turn.requests.push(Request::Timer(Timer::Uplink, due));
        }
        id
    }

    /// Sends the credit of `flow` that is due now, if one is.
    pub(super) fn send_due_credit(&mut self, turn: &mut Turn<'_>, flow: u32) {
        let Some(credited) = &mut self.credited else { return };
        let incoming = &mut turn.flows.incoming[flow as usize];
        let receiver = &mut incoming.receiver;
        let Some(credit) = receiver.take_credit(turn.now, &mut self.draws.credits) else { return };
        self.counters.credits_sent += 1;
        let packet = incoming.identity.mark(
            flow,
            Packet {
                offset: receiver.delivered(),
                sent_at: turn.now,
                tag: credit.number,
                wire_bytes: credit.wire_bytes as u16,
                kind: PacketKind::Credit,
                ..Packet::default()
            },
        );
        let id = turn.pool.insert(packet);
        if credited.credits.push(turn.pool, id) {
            turn.requests.set_ready();
        } else {
            turn.pool.remove(id);
        }
    }

    /// A credit has arrived at the source of its flow and becomes the data packet that it pays for.
    pub(super) fn on_credit(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let credit = turn.pool[id];
        let Some(slot) = turn.flows.slot(credit.flow) else {
            self.counters.credits_wasted += 1;
            return turn.pool.remove(id);
        };
        match turn.flows.senders[slot as usize].on_credit(turn.now, credit.offset) {
            CreditUse::Wasted => {
                self.counters.credits_wasted += 1;
                turn.pool.remove(id);
            }
            CreditUse::Completes => {
                self.complete(turn, slot);
                return turn.pool.remove(id);
            }
            CreditUse::Sends(segment) => {
                let elapsed = (turn.now - credit.sent_at).as_ps() / 1_000;
                turn.pool[id] = Packet {
                    remaining: u32::try_from(elapsed).unwrap_or(u32::MAX),
                    tag: credit.tag,
                    ..self.data_packet(turn, slot, &segment, 0)
                };
                if let Some(credited) = &mut self.credited {
                    credited.data.push(turn.pool, id);
                }
                turn.requests.set_ready();
                if turn.flows.senders[slot as usize].has_credit_signal() {
                    // A request or stop of the sender leaves behind these data, if the data can leave
                    // now.
                    return turn.requests.defer(Timer::Sender(credit.flow));
                }
            }
        }
        self.signal_receiver(turn, slot);
        self.watch_sender(turn, slot);
    }

    /// Data have arrived that a credit paid for.
    pub(super) fn on_credited_data(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = &turn.pool[id];
        // The flight of the credit to the sender, plus the flight of the data back.
        let flight = turn.now - packet.sent_at;
        let elapsed = Time::from_ns(u64::from(packet.remaining)) + flight;
        let receiver = &mut turn.flows.incoming[packet.flow as usize].receiver;
        receiver.on_credited_data(turn.now, packet.tag, elapsed);
    }

    /// Sends the pending request or stop of the sender in `slot`, if there is one.
    #[inline]
    pub(super) fn signal_receiver(&mut self, turn: &mut Turn<'_>, slot: u32) {
        let Some(signal) = turn.flows.senders[slot as usize].take_credit_signal(turn.now) else {
            return;
        };
        let (kind, remaining) = match signal {
            CreditSignal::Request { packets } => (PacketKind::CreditRequest, packets),
            CreditSignal::Stop => (PacketKind::CreditStop, 0),
        };
        self.watch_sender(turn, slot);
        self.send_forward(turn, slot, Packet { kind, remaining, ..Packet::default() });
    }

    /// A request or a stop has arrived at the destination of its flow.
    pub(super) fn on_credit_signal(&mut self, turn: &mut Turn<'_>, id: PacketId) {
        let packet = turn.pool[id];
        turn.pool.remove(id);
        let signal = match packet.kind {
            PacketKind::CreditStop => CreditSignal::Stop,
            _ => CreditSignal::Request { packets: packet.remaining },
        };
        let Some(incoming) = turn.flows.incoming(packet.flow) else { return };
        incoming.receiver.on_credit_signal(turn.now, signal);
        self.send_due_credit(turn, packet.flow);
        self.watch_receiver(turn, packet.flow);
    }
}
