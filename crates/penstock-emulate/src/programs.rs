//! The programs of a run: started, watched, ended, their output kept.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::config::EmulationConfig;
use crate::error::EmulationError;
use crate::namespace::{HostNamespace, Program, ProgramEnd, ProgramSettings};

/// How long a program may take to end when it is told to (our choice).
const GRACE: Duration = Duration::from_secs(2);

/// The programs of a run.
pub(crate) struct Programs {
    started: Vec<Started>,
}

struct Started {
    host: u32,
    command: Vec<String>,
    is_awaited: bool,
    program: Program,
}

/// A program that has ended.
#[derive(Clone, Debug)]
pub struct EndedProgram {
    /// Its host.
    pub host: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How it ended.
    pub end: ProgramEnd,
    /// Whether it still ran when the run was over, and was told to end.
    pub was_told: bool,
}

impl EndedProgram {
    pub(crate) fn to_json(&self) -> Value {
        let (ended, code) = match self.end {
            ProgramEnd::Code(code) => ("code", code),
            ProgramEnd::Signal(signal) => ("signal", signal),
        };
        json!({ "host": self.host, "command": self.command, ended: code, "told": self.was_told })
    }
}

impl Programs {
    /// Starts all programs, in the order in which they are listed.
    pub fn start(
        hosts: &[HostNamespace],
        config: &EmulationConfig,
    ) -> Result<Self, EmulationError> {
        let mut started = Vec::new();
        for (number, listed) in config.programs.iter().enumerate() {
            let file = |kind: &str| -> Result<File, EmulationError> {
                let path: PathBuf = config.directory.join(format!("program-{number}.{kind}"));
                File::create(&path).map_err(|error| EmulationError::Output { path, error })
            };
            let Some((program, arguments)) = listed.command.split_first() else { continue };
            let settings = ProgramSettings {
                program: program.into(),
                arguments: arguments.iter().map(Into::into).collect(),
                environment: vec![],
                directory: None,
                output: file("out")?,
                errors: file("err")?,
            };
            let program = hosts[listed.host as usize].spawn(settings)?;
            let (host, command, is_awaited) = (listed.host, listed.command.clone(), listed.awaited);
            started.push(Started { host, command, is_awaited, program });
        }
        Ok(Programs { started })
    }

    /// Whether all programs have ended for which the run waits.
    pub fn are_over(&self) -> bool {
        let has_ended = |program: &Program| program.ended().is_ok_and(|end| end.is_some());
        self.started.iter().filter(|one| one.is_awaited).all(|one| has_ended(&one.program))
    }

    /// Ends what still runs, and answers how each program ended.
    pub fn finish(self) -> Result<Vec<EndedProgram>, EmulationError> {
        // All are told at once, so that none waits for the end of another.
        let mut told = Vec::with_capacity(self.started.len());
        for one in &self.started {
            told.push(one.program.ask_to_end().map_err(EmulationError::Program)?);
        }
        let since = Instant::now();
        let end = |(one, was_told): (Started, bool)| -> Result<EndedProgram, EmulationError> {
            let left = GRACE.saturating_sub(since.elapsed());
            let end = one.program.end(left).map_err(EmulationError::Program)?;
            Ok(EndedProgram { host: one.host, command: one.command, end, was_told })
        };
        self.started.into_iter().zip(told).map(end).collect()
    }
}
