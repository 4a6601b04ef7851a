//! Checkpoints: the state of a simulation, saved in the middle of a run and put back later.
//!
//! What it is: everything that events have changed since the run began. What it is not: the network, its
//! routes and whatever else follows from the scenario; these are built anew. Invariant: a run that is
//! restored ends with the same tables and the same summary as one that was never stopped.
//!
//! A checkpoint is read only as a whole: its length and its checksum come first. Then come a hash of the
//! scenario and of the version of Penstock, the number of partitions, and the state in borsh's format. The
//! state has no names of fields, so only the version that has saved it can read it.

use std::io::{Error, Read, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use penstock_packet::Observer;
use penstock_units::state::State;
use xxhash_rust::xxh3::xxh3_64;

use super::{Simulation, lock, whole};
use crate::error::CheckpointError;

/// The first bytes of a checkpoint. Not text, and changed by whatever changes the ends of lines (the
/// signature of PNG is made like that: RFC 2083 sec. 12.11).
const MAGIC: [u8; 8] = *b"\x89PENST\r\n";

/// The number of the format: of the order of what comes before the state.
const FORMAT: u32 = 1;

/// The magic bytes, the format, the length of what follows, and its checksum.
const HEADER: usize = 8 + 4 + 8 + 8;

impl<O: Observer + BorshSerialize + BorshDeserialize> Simulation<O> {
    /// Writes the state of the simulation, which stands still, to `sink`.
    ///
    /// # Errors
    /// When `sink` fails, and under the fidelity of the ns-3 HPCC simulator.
    pub fn save(&self, mut sink: impl Write) -> Result<(), CheckpointError> {
        if self.setting.scenario.fidelity.is_ns3() {
            return Err(CheckpointError::Fidelity);
        }
        let content = self.content().map_err(|error| CheckpointError::Write(error.to_string()))?;
        let length = content.len() as u64;
        let mut header = MAGIC.to_vec();
        header.extend(FORMAT.to_le_bytes());
        header.extend(length.to_le_bytes());
        header.extend(xxh3_64(&content).to_le_bytes());
        [header, content]
            .iter()
            .try_for_each(|part| sink.write_all(part))
            .and_then(|()| sink.flush())
            .map_err(|error| CheckpointError::Write(error.to_string()))
    }

    /// What comes after the header.
    fn content(&self) -> Result<Vec<u8>, Error> {
        let Simulation { setting: _, partitions, conductor, turn } = self;
        let mut content = Vec::new();
        content.extend(self.identity().to_le_bytes());
        content.extend((partitions.len() as u32).to_le_bytes());
        turn.serialize(&mut content)?;
        conductor.save(&mut content)?;
        for partition in partitions {
            lock(partition).save(&mut content)?;
        }
        Ok(content)
    }

    /// A hash of all that decides what the state means.
    fn identity(&self) -> u64 {
        let version = env!("CARGO_PKG_VERSION");
        xxh3_64(format!("{version} {}", self.setting.scenario.to_json()).as_bytes())
    }

    /// This simulation, which was built from the same scenario and has not begun, in the state that was
    /// saved in `source`. It must have as many partitions as the one that was saved.
    ///
    /// # Errors
    /// When `source` fails, is cut or damaged, or belongs to something else.
    pub fn restored(mut self, source: impl Read) -> Result<Self, CheckpointError> {
        let content = read(source)?;
        let Some((identity, rest)) = content.split_first_chunk() else {
            return Err(CheckpointError::Length);
        };
        let Some((saved, state)) = rest.split_first_chunk() else {
            return Err(CheckpointError::Length);
        };
        if u64::from_le_bytes(*identity) != self.identity() {
            return Err(CheckpointError::Scenario);
        }
        let (saved, built) = (u32::from_le_bytes(*saved), self.partitions.len() as u32);
        if saved != built {
            return Err(CheckpointError::Partitions { saved, built });
        }
        self.put_back(state).map_err(|error| CheckpointError::State(error.to_string()))?;
        Ok(self)
    }

    /// Puts `state` back; an error says in words what does not fit.
    fn put_back(&mut self, mut state: &[u8]) -> Result<(), Error> {
        let Simulation { setting: _, partitions, conductor, turn } = self;
        *turn = BorshDeserialize::deserialize(&mut state)?;
        if turn.is_some_and(|turn| turn >= partitions.len()) {
            return Err(Error::other("its turn is that of no partition"));
        }
        conductor.restore(&mut state)?;
        for partition in partitions {
            let partition = whole(partition.get_mut());
            partition.restore(&mut state)?;
            partition.take_routes().map_err(Error::other)?;
        }
        if state.is_empty() { Ok(()) } else { Err(Error::other("it is longer than a state")) }
    }
}

/// The content of the checkpoint in `source`, as it was saved.
fn read(mut source: impl Read) -> Result<Vec<u8>, CheckpointError> {
    let mut take = |most: u64| {
        let mut bytes = Vec::new();
        let read = source.by_ref().take(most).read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| CheckpointError::Read(error.to_string()))
    };
    let header = take(HEADER as u64)?;
    let Some(header) = header.strip_prefix(&MAGIC) else { return Err(CheckpointError::Foreign) };
    let fields = header.split_first_chunk().and_then(|(format, rest)| {
        let (length, checksum) = rest.split_first_chunk()?;
        Some((u32::from_le_bytes(*format), u64::from_le_bytes(*length), checksum.try_into().ok()?))
    });
    let Some((format, length, checksum)) = fields else { return Err(CheckpointError::Length) };
    if format != FORMAT {
        return Err(CheckpointError::Format { saved: format, read: FORMAT });
    }
    let content = take(length)?;
    if content.len() as u64 != length || !take(1)?.is_empty() {
        return Err(CheckpointError::Length);
    }
    if xxh3_64(&content) != u64::from_le_bytes(checksum) {
        return Err(CheckpointError::Checksum);
    }
    Ok(content)
}
