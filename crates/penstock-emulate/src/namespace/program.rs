//! Programs that run in a host's namespace.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

/// What is started.
#[derive(Debug)]
pub struct ProgramSettings {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// Variables beside those of the worker.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts; none: where the worker is.
    pub directory: Option<PathBuf>,
    /// Where its standard output goes.
    pub output: File,
    /// Where its standard error goes.
    pub errors: File,
}

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// A program that runs in a host's namespace, in a process group of its own.
///
/// A value that is dropped kills the group. A process that leaves the group (setsid(2)) ends with
/// the worker.
///
/// The descriptor is readable (poll, epoll) once the program has ended. The program stays a zombie
/// until this value is gone, so that its number cannot become another's.
#[derive(Debug)]
pub struct Program {
    child: Child,
    pid: Pid,
    descriptor: OwnedFd,
}

impl Program {
    /// Starts a program in the namespaces of the calling thread. It reads nothing: its standard
    /// input is empty.
    pub(super) fn start(settings: ProgramSettings) -> io::Result<Self> {
        let mut command = Command::new(settings.program);
        command.args(settings.arguments).envs(settings.environment).process_group(0);
        command.stdin(Stdio::null()).stdout(settings.output).stderr(settings.errors);
        if let Some(directory) = settings.directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(Self { child, pid, descriptor }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error.into())
            }
        }
    }

    /// The number of its process, in the worker's PID namespace.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How the program has ended; none while it runs.
    ///
    /// # Errors
    ///
    /// Those of waitid(2).
    pub fn ended(&self) -> io::Result<Option<ProgramEnd>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = loop {
            match waitid(WaitId::PidFd(self.descriptor.as_fd()), options) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        Ok(status.and_then(|status| match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(ProgramEnd::Code(code)),
            (None, signal) => signal.map(ProgramEnd::Signal),
        }))
    }

    /// Waits until the program has ended, at most this long; none where it still runs then.
    ///
    /// # Errors
    ///
    /// Those of poll(2) and waitid(2).
    pub fn wait(&self, at_most: Duration) -> io::Result<Option<ProgramEnd>> {
        // A time beyond the clock's range is as good as none.
        let deadline = Instant::now().checked_add(at_most);
        loop {
            if let Some(end) = self.ended()? {
                return Ok(Some(end));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut [PollFd::new(&self.descriptor, PollFlags::IN)], left.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Asks the program and its process group to end (`SIGTERM`), and answers whether it still ran. A program
    /// that has ended is not asked, nor is its group.
    ///
    /// # Errors
    ///
    /// Those of waitid(2).
    pub fn ask_to_end(&self) -> io::Result<bool> {
        let still_runs = self.ended()?.is_none();
        if still_runs {
            self.signal_group(Signal::TERM);
        }
        Ok(still_runs)
    }

    /// Waits at most `grace` for the end of the program, and kills what is left of it and of its process
    /// group. A program that had ended before keeps its end.
    ///
    /// # Errors
    ///
    /// Those of poll(2) and waitid(2).
    pub fn end(self, grace: Duration) -> io::Result<ProgramEnd> {
        self.wait(grace)?;
        self.signal_group(Signal::KILL);
        loop {
            if let Some(end) = self.wait(Duration::MAX)? {
                return Ok(end);
            }
        }
    }

    /// Sends a signal to the process group. That nobody is left in it is no error.
    fn signal_group(&self, signal: Signal) {
        let _ = kill_process_group(self.pid, signal);
    }
}

impl AsFd for Program {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Before the program is reaped: until then the number is its own.
        self.signal_group(Signal::KILL);
        let _ = self.child.wait();
    }
}
