//! Turns of control and data packets at the ports of a switch that trims (NDP).

use alloc::vec;
use alloc::vec::Vec;

use borsh::{BorshDeserialize, BorshSerialize};

/// Whose turn it is at each port where both wait: a data packet's after every `weight` control packets.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct ControlTurns {
    weight: u32,
    /// By port: control packets that have left since its last turn of data, while data waited.
    sent: Vec<u32>,
}

impl ControlTurns {
    /// The turns of so many `ports`, of which nothing has left.
    pub(crate) fn new(weight: u32, ports: usize) -> Self {
        ControlTurns { weight, sent: vec![0; ports] }
    }

    /// Whether it is the turn of data at `port`, where both wait and one of them leaves now.
    pub(crate) fn is_of_data(&mut self, port: u16) -> bool {
        let sent = &mut self.sent[usize::from(port)];
        let is_of_data = *sent >= self.weight;
        *sent = if is_of_data { 0 } else { *sent + 1 };
        is_of_data
    }
}
