//! Every frame at the edge of the network, in a file that Wireshark reads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use penstock_packet::Packet;
use penstock_units::{HopTelemetry, Time};
use penstock_wire::pcapng::{self, Direction};

use crate::drive::Recorder;
use crate::error::EmulationError;

/// Bytes that are written at a time (our choice: 700 frames of 1,500 B).
const AT_ONCE: usize = 1 << 20;

/// A capture of the frames between the network and its hosts: an interface for each host, times of the run
/// (ns).
///
/// Where the file cannot be written any more, the run goes on, and its end has the error. A run that fails
/// leaves no file, so that the same command can be repeated; one that is killed leaves what it has.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    file: BufWriter<File>,
    error: Option<io::Error>,
    /// Whether all frames are in the file.
    is_whole: bool,
}

impl Capture {
    /// A capture of `hosts` hosts in a new file at `path`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(path: &Path, hosts: u32) -> Result<Self, EmulationError> {
        let refused = |error| EmulationError::Output { path: path.to_owned(), error };
        let file = BufWriter::with_capacity(AT_ONCE, File::create(path).map_err(refused)?);
        let mut capture = Capture { path: path.to_owned(), file, error: None, is_whole: false };
        capture.file.write_all(pcapng::section().bytes()).map_err(refused)?;
        for host in 0..hosts {
            let interface = pcapng::interface(&format!("H{host}"));
            capture.file.write_all(interface.bytes()).map_err(refused)?;
        }
        Ok(capture)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// When the file could not be written, now or before.
    pub fn finish(mut self) -> Result<(), EmulationError> {
        let written = self.error.take().map_or(Ok(()), Err).and_then(|()| self.file.flush());
        self.is_whole = written.is_ok();
        written.map_err(|error| EmulationError::Output { path: self.path.clone(), error })
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if !self.is_whole {
            // The run has another error, which says more.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Recorder for Option<Capture> {
    fn enters(&mut self, _: u32, _: Time, _: &Packet, _: &[HopTelemetry]) {}

    fn frame(&mut self, host: u32, direction: Direction, now: Time, frame: &[u8]) {
        let Some(Capture { file, error: error @ None, .. }) = self else { return };
        let written = file
            .write_all(pcapng::packet(host, now, frame.len(), frame.len()).bytes())
            .and_then(|()| file.write_all(frame))
            .and_then(|()| file.write_all(pcapng::packet_end(frame.len(), direction).bytes()));
        *error = written.err();
    }
}
