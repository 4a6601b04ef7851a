//! Reads what has come to devices: many frames with one system call where the kernel has io_uring and
//! permits it, and one by one elsewhere. Both give the same frames in the same order.

use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::device::{Device, is_nothing};
use crate::port::LARGEST_FRAME;
use crate::system::batch::Batch;

/// So many frames are asked for at first: a lone frame then costs one read that finds nothing, as it does one
/// by one (our choice).
const FIRST: usize = 2;

/// So many are asked for next, as a multiple of the frames that have come (our choice: 2, 8, 32 and 22 frames
/// make 64).
const GROWTH: usize = 4;

/// Memory for the frames that were read last, and how frames are read. It stays in one thread.
pub(crate) struct Inbox {
    batch: Option<Batch>,
    /// For a frame that was read alone.
    buffer: Box<[u8]>,
    /// Its length (bytes).
    alone: Option<usize>,
}

impl Inbox {
    /// Reads from any of `devices` as fast as the kernel permits.
    pub(crate) fn new<D: Device>(devices: &[D]) -> Self {
        let files: Vec<_> = devices.iter().map(AsFd::as_fd).collect();
        let batch = D::READ_IS_FRAME.then(|| Batch::new(&files, LARGEST_FRAME).ok());
        Inbox { batch: batch.flatten(), ..Inbox::one_by_one() }
    }

    /// Reads frames one by one.
    pub(crate) fn one_by_one() -> Self {
        Inbox { batch: None, buffer: vec![0; LARGEST_FRAME].into(), alone: None }
    }

    /// Reads the next frames of `device`, which is number `number`, where `before` of `most` frames have been
    /// read: fewer than `most` of these. Answers how many there was room for; fewer have come when no more
    /// wait.
    ///
    /// # Errors
    /// When the device is gone, or the system fails.
    pub(crate) fn read<D: Device>(
        &mut self,
        (number, device): (usize, &mut D),
        before: usize,
        most: usize,
    ) -> io::Result<usize> {
        if let Some(batch) = &mut self.batch {
            let asked = batch.read(number, (GROWTH * before).max(FIRST).min(most - before))?;
            if !batch.results().next().is_some_and(|read| read.is_err_and(would_wait)) {
                return Ok(asked);
            }
            self.batch = None;
        }
        self.alone = device.receive(&mut self.buffer)?;
        Ok(1)
    }

    /// The frames that were read last, in the order in which they had come, and errors of the device.
    pub(crate) fn frames(&self) -> impl Iterator<Item = io::Result<&[u8]>> {
        let batch = self.batch.iter().flat_map(Batch::results);
        let alone = self.alone.map(|length| Ok(&self.buffer[..length]));
        batch.filter(|read| !read.as_ref().is_err_and(is_nothing)).chain(alone)
    }
}

/// Whether the kernel cannot read from a descriptor without waiting (`RWF_NOWAIT`, preadv2(2)); the device
/// itself can.
fn would_wait(error: io::Error) -> bool {
    Errno::from_io_error(&error) == Some(Errno::OPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{BorrowedFd, OwnedFd};
    use std::os::unix::net::UnixDatagram;

    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;
    use crate::device::unless_empty;

    /// A descriptor of which each read brings a frame.
    struct Descriptor(OwnedFd);

    impl AsFd for Descriptor {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl Device for Descriptor {
        const READ_IS_FRAME: bool = true;

        fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
            unless_empty(rustix::io::read(&self.0, buffer).map_err(io::Error::from))
        }

        fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
            let sent = rustix::io::write(&self.0, frame).map_err(io::Error::from);
            Ok(unless_empty(sent)?.is_some())
        }
    }

    /// A pipe whose writes are read one by one (`O_DIRECT`, pipe(2)): the reader, and the writer.
    fn pipe() -> [Descriptor; 2] {
        let (reader, writer) = pipe_with(PipeFlags::DIRECT | PipeFlags::NONBLOCK).unwrap();
        [Descriptor(reader), Descriptor(writer)]
    }

    /// An inbox that reads one by one, and one that reads many at once; the latter only where the kernel
    /// permits it.
    fn inboxes<D: Device>(devices: &[D]) -> Vec<Inbox> {
        let many = Inbox::new(devices);
        if many.batch.is_none() {
            eprintln!("the kernel has or permits no io_uring: frames are read one by one only");
            return vec![Inbox::one_by_one()];
        }
        vec![Inbox::one_by_one(), many]
    }

    /// At most `most` frames of a device, as the drive reads them, and whether the device is gone then.
    fn read_all<D: Device>(
        inbox: &mut Inbox,
        number: usize,
        device: &mut D,
        most: usize,
    ) -> (Vec<Vec<u8>>, Option<Errno>) {
        let mut all = vec![];
        let errno = |error| Errno::from_io_error(&error);
        while all.len() < most {
            let before = all.len();
            let asked = match inbox.read((number, device), before, most) {
                Ok(asked) => asked,
                Err(error) => return (all, errno(error)),
            };
            for frame in inbox.frames() {
                match frame {
                    Ok(frame) => all.push(frame.to_vec()),
                    Err(error) => return (all, errno(error)),
                }
            }
            if all.len() < before + asked {
                break;
            }
        }
        (all, None)
    }

    fn frames(count: u8) -> Vec<Vec<u8>> {
        (0..count).map(|number| vec![number; 60 + usize::from(number)]).collect()
    }

    #[test]
    fn frames_come_in_order_and_no_more_than_asked_for() {
        let [other, [mut reader, mut writer]] = [pipe(), pipe()];
        rustix::pipe::fcntl_setpipe_size(&writer, 1 << 20).unwrap();
        let devices =
            [other.into_iter().next().unwrap(), Descriptor(reader.0.try_clone().unwrap())];
        for mut inbox in inboxes(&devices) {
            for count in [0, 1, 2, 3, 10, 11, 42, 43, 63, 64, 65, 100] {
                let sent = frames(count);
                sent.iter().for_each(|frame| assert!(writer.send(frame).unwrap()));
                let (read, rest) = sent.split_at(sent.len().min(64));
                assert_eq!(
                    read_all(&mut inbox, 1, &mut reader, 64),
                    (read.to_vec(), None),
                    "{count}"
                );
                assert_eq!(
                    read_all(&mut inbox, 1, &mut reader, 64),
                    (rest.to_vec(), None),
                    "{count}"
                );
            }
        }
    }

    /// What finds no room in a device is sent later, and comes later.
    #[test]
    fn frames_come_in_order_from_a_full_device() {
        let [mut reader, mut writer] = pipe();
        let devices = [Descriptor(reader.0.try_clone().unwrap())];
        for mut inbox in inboxes(&devices) {
            let (sent, mut come, mut refused) = (frames(100), vec![], 0);
            let mut waiting = sent.iter().peekable();
            while come.len() < sent.len() {
                while waiting.next_if(|frame| writer.send(frame).unwrap()).is_some() {}
                refused += usize::from(waiting.peek().is_some());
                let (read, gone) = read_all(&mut inbox, 0, &mut reader, 5);
                assert_eq!((read.is_empty(), gone), (false, None));
                come.extend(read);
            }
            assert!(refused > 0, "the device was full");
            assert_eq!(come, sent);
        }
    }

    #[test]
    fn a_frame_that_is_too_long_is_cut_off_and_an_empty_one_is_a_frame() {
        let (mut writer, mut reader) = UnixDatagram::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        for mut inbox in inboxes(&[reader.try_clone().unwrap()]) {
            for length in [LARGEST_FRAME + 1, 0, LARGEST_FRAME, 70_000] {
                assert!(Device::send(&mut writer, &vec![7; length]).unwrap());
            }
            let whole = vec![7; LARGEST_FRAME];
            let cut = vec![whole.clone(), vec![], whole.clone(), whole];
            assert_eq!(read_all(&mut inbox, 0, &mut reader, 64), (cut, None));
        }
    }

    #[test]
    fn a_device_that_is_gone_is_an_error() {
        let [_reader, mut writer] = pipe();
        for mut inbox in inboxes(&[Descriptor(writer.0.try_clone().unwrap())]) {
            let gone = read_all(&mut inbox, 0, &mut writer, 64);
            assert_eq!(gone, (vec![], Some(Errno::BADF)), "it cannot be read");
        }
    }

    /// The kernel does not read files of `/proc` without waiting.
    #[test]
    fn what_must_wait_is_read_one_by_one() {
        let mut file = Descriptor(File::open("/proc/self/comm").unwrap().into());
        let mut inbox = Inbox::new(&[Descriptor(file.0.try_clone().unwrap())]);
        let (read, gone) = read_all(&mut inbox, 0, &mut file, 1);
        assert!(inbox.batch.is_none());
        assert_eq!((read, gone), (vec![std::fs::read("/proc/self/comm").unwrap()], None));
    }
}
