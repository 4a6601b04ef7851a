//! Many reads with one system call (io_uring(7)).

use std::os::fd::{AsRawFd, BorrowedFd};
use std::{io, slice};

use io_uring::IoUring;
use io_uring::opcode::ReadFixed;
use io_uring::types::Fixed;

/// So many reads are made with one system call at most (our choice; with 16 a copy of 60 B took 1 % longer).
const MOST: usize = 32;

/// Rooms are so far apart (bytes; our choice: a line of the cache), or all would begin at the same place of a
/// page and compete for the same few lines.
const APART: usize = 64;

/// Reads from descriptors, up to [`MOST`] at a time. No read waits.
///
/// Only the thread that has made a batch reads by it: the pointer inside keeps it from being sent.
pub(crate) struct Batch {
    ring: IoUring,
    /// [`MOST`] rooms of `stride` bytes, from a `Box`. The kernel writes into it while `pending` is not 0.
    rooms: *mut [u8],
    stride: usize,
    /// What is read into a room at most (bytes).
    length: usize,
    /// By room: the bytes of a read, or an error below 0.
    results: [i32; MOST],
    /// The first of them that are those of the last call.
    filled: usize,
    /// Reads of which the kernel has not said that they are over.
    pending: usize,
}

impl Batch {
    /// Makes a batch that reads from `files`, each time at most `length` bytes.
    ///
    /// # Errors
    ///
    /// Those of io_uring_setup(2) and io_uring_register(2): the kernel lacks io_uring or its newer flags
    /// (`ENOSYS`, `EINVAL`), it is forbidden (`EPERM`), or so much memory may not be locked (`ENOMEM`).
    pub(crate) fn new(files: &[BorrowedFd<'_>], length: usize) -> io::Result<Self> {
        let ring: IoUring =
            IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(MOST as u32)?;
        let files: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.submitter().register_files(&files)?;
        let stride = length.next_multiple_of(APART) + APART;
        let rooms = Box::into_raw(vec![0; MOST * stride].into_boxed_slice());
        let batch =
            Batch { ring, rooms, stride, length, results: [0; MOST], filled: 0, pending: 0 };
        let all = libc::iovec { iov_base: rooms.cast(), iov_len: MOST * stride };
        // SAFETY: the memory lives until `drop`, which frees it when no read is pending.
        unsafe { batch.ring.submitter().register_buffers(&[all]) }?;
        Ok(batch)
    }

    /// Reads from file number `file` up to `most` times, and answers how often. [`Batch::results`] has what
    /// was read.
    ///
    /// The kernel tries one read after another, in order, as it takes requests that must not wait
    /// (`RWF_NOWAIT`).
    ///
    /// # Errors
    ///
    /// Those of io_uring_enter(2). After one the batch is of no use.
    pub(crate) fn read(&mut self, file: usize, most: usize) -> io::Result<usize> {
        if self.pending > 0 {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        self.filled = 0;
        let count = most.min(MOST);
        let mut requests = self.ring.submission();
        for number in 0..count {
            let room = self.rooms.cast::<u8>().wrapping_add(number * self.stride);
            let request = ReadFixed::new(Fixed(file as u32), room, self.length as u32, 0)
                .rw_flags(libc::RWF_NOWAIT)
                .build()
                .user_data(number as u64);
            // SAFETY: the kernel writes up to `length` bytes into a room, which is registered. Until the
            // read is over, `pending` is not 0, and so nobody looks at the room and `drop` does not free it.
            unsafe { requests.push(&request) }.map_err(io::Error::other)?;
            self.pending += 1;
        }
        drop(requests);
        while self.pending > 0 {
            match self.ring.submit_and_wait(self.pending) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for done in self.ring.completion() {
                self.results[done.user_data() as usize] = done.result();
                self.pending -= 1;
            }
        }
        self.filled = count;
        Ok(count)
    }

    /// What the reads of the last call have brought, in their order.
    pub(crate) fn results(&self) -> impl Iterator<Item = io::Result<&[u8]>> {
        self.results[..self.filled].iter().enumerate().map(|(number, &result)| {
            let Ok(length) = usize::try_from(result) else {
                return Err(io::Error::from_raw_os_error(-result));
            };
            let room = self.rooms.cast::<u8>().wrapping_add(number * self.stride);
            // SAFETY: the bytes lie in a room, were zeros at first, and nobody writes them: no read is
            // pending (`filled` would be 0), and the next one needs `&mut self`.
            Ok(unsafe { slice::from_raw_parts(room, length.min(self.length)) })
        })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // After an error of the kernel it may still write into the rooms. Then they are never freed.
        if self.pending == 0 {
            // SAFETY: the pointer is that of a `Box` (`new`), and no read is pending.
            drop(unsafe { Box::from_raw(self.rooms) });
        }
    }
}
