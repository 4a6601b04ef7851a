//! What a server knows of the flows that it expects. Flows it does not expect take no memory.

use std::collections::HashMap;

use penstock_units::{Bytes, Time};

use crate::header::Header;
use crate::record::ReceivedFlow;
use crate::samples::Samples;

/// Why bytes are not of a flow that the server expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No such flow is expected.
    Unknown,
    /// The flow came by another connection, or the other protocol.
    Repeated,
}

/// By what a flow comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    Stream,
    Datagrams,
}

#[derive(Debug)]
struct Receipt {
    flow: ReceivedFlow,
    carrier: Option<Carrier>,
    size: Option<Bytes>,
    has_ended: bool,
}

/// What came of each expected flow.
#[derive(Debug)]
pub(super) struct Inbox {
    receipts: Vec<Receipt>,
    /// Index of a flow's receipt, by the flow's number.
    index: HashMap<u64, usize>,
    /// Flows that have not ended here.
    open: usize,
    sample_interval: Option<Time>,
}

impl Inbox {
    pub(super) fn new(expected: &[u64], sample_interval: Option<Time>) -> Self {
        let mut index = HashMap::with_capacity(expected.len());
        let mut receipts = Vec::with_capacity(expected.len());
        for &number in expected {
            index.entry(number).or_insert_with(|| {
                let flow = ReceivedFlow::none(number);
                receipts.push(Receipt { flow, carrier: None, size: None, has_ended: false });
                receipts.len() - 1
            });
        }
        Inbox { open: receipts.len(), receipts, index, sample_interval }
    }

    /// How many expected flows have not ended here.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// A stream began with `header`, whose first byte was read at `first`; its last one at `now`. The
    /// result names the receipt of its flow.
    pub(super) fn begin_stream(
        &mut self,
        header: Header,
        first: Time,
        now: Time,
    ) -> Result<usize, Refusal> {
        let index = self.find(header, first)?;
        let receipt = &mut self.receipts[index];
        if receipt.carrier.is_some() {
            return Err(Refusal::Repeated);
        }
        receipt.carrier = Some(Carrier::Stream);
        self.deliver(index, Bytes::ZERO, now);
        Ok(index)
    }

    /// A datagram with `header` and `bytes` bytes of its flow was read at `now`.
    pub(super) fn take_datagram(
        &mut self,
        header: Header,
        bytes: Bytes,
        now: Time,
    ) -> Result<(), Refusal> {
        let index = self.find(header, now)?;
        let receipt = &mut self.receipts[index];
        if *receipt.carrier.get_or_insert(Carrier::Datagrams) != Carrier::Datagrams {
            return Err(Refusal::Repeated);
        }
        if !receipt.has_ended {
            self.deliver(index, bytes, now);
        }
        Ok(())
    }

    /// The receipt of the flow of `header`; the flow's first bytes set it up.
    fn find(&mut self, header: Header, first: Time) -> Result<usize, Refusal> {
        let index = *self.index.get(&header.number).ok_or(Refusal::Unknown)?;
        let receipt = &mut self.receipts[index];
        if receipt.carrier.is_none() {
            receipt.flow.first = Some(first);
            receipt.size = header.size;
            let is_endless = header.size.is_none();
            receipt.flow.samples = self.sample_interval.filter(|_| is_endless).map(Samples::every);
        }
        Ok(index)
    }

    /// `bytes` bytes of the flow of receipt `index` were read at `now`.
    pub(super) fn deliver(&mut self, index: usize, bytes: Bytes, now: Time) {
        let receipt = &mut self.receipts[index];
        let flow = &mut receipt.flow;
        if let Some(samples) = &mut flow.samples {
            samples.take(now, flow.delivered);
        }
        flow.last = Some(now);
        flow.delivered = Bytes::new(flow.delivered.get().saturating_add(bytes.get()));
        if receipt.size.is_some_and(|size| flow.delivered >= size) {
            flow.is_complete = true;
            self.end(index);
        }
    }

    /// No more bytes of the flow of receipt `index` will come.
    pub(super) fn end(&mut self, index: usize) {
        let receipt = &mut self.receipts[index];
        if !receipt.has_ended {
            receipt.has_ended = true;
            self.open -= 1;
        }
    }

    /// How many bytes of the flow of receipt `index` are missing; none when the flow is endless.
    pub(super) fn missing(&self, index: usize) -> Option<Bytes> {
        let receipt = &self.receipts[index];
        Some(receipt.size?.saturating_sub(receipt.flow.delivered))
    }

    /// What came, when the run ended at `now`.
    pub(super) fn finish(self, now: Time) -> Vec<ReceivedFlow> {
        let finish = |receipt: Receipt| {
            let mut flow = receipt.flow;
            if let Some(samples) = &mut flow.samples {
                samples.take(now, flow.delivered);
            }
            flow
        };
        self.receipts.into_iter().map(finish).collect()
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
