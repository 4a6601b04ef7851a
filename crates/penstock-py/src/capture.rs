//! Rows of a packet trace as the blocks of a pcapng file; see `_core.pyi`.

use numpy::{Element, PyReadonlyArray1};
use penstock_packet::{Packet, PacketFlags};
use penstock_units::{BitRate, Time};
use penstock_wire::kind::KINDS;
use penstock_wire::pcapng::{self, Direction};
use penstock_wire::traced::{Sender, most_bytes, write_traced};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// The beginning of a capture: its section, and an interface for each name.
#[pyfunction]
pub fn capture_head(py: Python<'_>, interfaces: Vec<String>) -> Bound<'_, PyBytes> {
    let mut bytes = pcapng::section().bytes().to_vec();
    for name in interfaces {
        bytes.extend(pcapng::interface(&name).bytes());
    }
    PyBytes::new(py, &bytes)
}

/// The blocks of frames, one for each row of `columns`, of which `kept` bytes are in the file.
#[pyfunction]
pub fn capture_frames<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyDict>,
    hosts: u32,
    kept: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = Rows::of(columns)?;
    let (mut bytes, mut frame) = (Vec::new(), vec![0; most_bytes()]);
    for row in 0..rows.time.len() {
        let packet = rows.packet(row)?;
        let (sender, rate) = (rows.sender[row], BitRate::from_bps(rows.rate[row]));
        let sender = if sender < hosts { Sender::Host(sender) } else { Sender::Switch(sender) };
        let length = write_traced(&packet, sender, rate, &mut frame)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let kept = &frame[..length.min(kept)];
        let direction = if rows.leaves[row] { Direction::Outbound } else { Direction::Inbound };
        let time = Time::from_ps(rows.time[row]);
        let head = pcapng::packet(rows.interface[row], time, kept.len(), length);
        bytes.extend(head.bytes());
        bytes.extend(kept);
        bytes.extend(pcapng::packet_end(kept.len(), direction).bytes());
    }
    Ok(PyBytes::new(py, &bytes))
}

/// The columns of `capture_frames`, of equal length.
struct Rows {
    time: Vec<u64>,
    interface: Vec<u32>,
    leaves: Vec<bool>,
    sender: Vec<u32>,
    rate: Vec<u64>,
    kind: Vec<u32>,
    source: Vec<u32>,
    destination: Vec<u32>,
    flow_hash: Vec<u32>,
    offset: Vec<u64>,
    remaining: Vec<u32>,
    sent: Vec<u64>,
    wire_bytes: Vec<u32>,
    payload: Vec<u32>,
    label: Vec<i32>,
    upstream_queue: Vec<i32>,
    tag: Vec<u32>,
    class: Vec<u32>,
    flags: Vec<u32>,
}

impl Rows {
    fn of(columns: &Bound<'_, PyDict>) -> PyResult<Rows> {
        let rows = Rows {
            time: column(columns, "time_ps")?,
            interface: column(columns, "interface")?,
            leaves: column(columns, "leaves")?,
            sender: column(columns, "sender")?,
            rate: column(columns, "rate_bps")?,
            kind: column(columns, "kind")?,
            source: column(columns, "src")?,
            destination: column(columns, "dst")?,
            flow_hash: column(columns, "flow_hash")?,
            offset: column(columns, "sequence")?,
            remaining: column(columns, "remaining")?,
            sent: column(columns, "sent_ps")?,
            wire_bytes: column(columns, "size_bytes")?,
            payload: column(columns, "payload_bytes")?,
            label: column(columns, "label")?,
            upstream_queue: column(columns, "upstream_queue")?,
            tag: column(columns, "tag")?,
            class: column(columns, "class")?,
            flags: column(columns, "flags")?,
        };
        Ok(rows)
    }

    /// The packet of a row.
    fn packet(&self, row: usize) -> PyResult<Packet> {
        let wrong = |_| PyValueError::new_err(format!("row {row} has a value that no packet has"));
        let kind = KINDS.get(self.kind[row] as usize).copied();
        Ok(Packet {
            kind: kind.ok_or_else(|| PyValueError::new_err("there is no such kind"))?,
            source: self.source[row],
            destination: self.destination[row],
            flow_hash: self.flow_hash[row],
            offset: self.offset[row],
            remaining: self.remaining[row],
            sent_at: Time::from_ps(self.sent[row]),
            wire_bytes: u16::try_from(self.wire_bytes[row]).map_err(wrong)?,
            payload: u16::try_from(self.payload[row]).map_err(wrong)?,
            queue: u16::try_from(self.label[row]).map_err(wrong)?,
            upstream_queue: u16::try_from(self.upstream_queue[row]).map_err(wrong)?,
            tag: u16::try_from(self.tag[row]).map_err(wrong)?,
            class: u8::try_from(self.class[row]).map_err(wrong)?,
            flags: PacketFlags::from_bits(u8::try_from(self.flags[row]).map_err(wrong)?),
            ..Packet::default()
        })
    }
}

/// The column `name`, which has as many rows as the first.
fn column<T: Element + Copy>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let missing = || PyValueError::new_err(format!("the column {name} is missing"));
    let rows = |name| columns.get_item(name)?.ok_or_else(missing);
    let length = rows("time_ps")?.len()?;
    let found: PyReadonlyArray1<'_, T> = rows(name)?.extract()?;
    let found =
        found.as_slice().map_err(|_| PyValueError::new_err("a column is not in one piece"))?;
    if found.len() != length {
        return Err(PyValueError::new_err(format!("the column {name} has another length")));
    }
    Ok(found.to_vec())
}
