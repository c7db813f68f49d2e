//! Taking the protocol's descriptors out of everybody's reach.
//!
//! A server's standard output carries protocol lines and nothing else. So at start its descriptors are moved away:
//! what libraries, panics or children then write to descriptor 1 goes to standard error, and what they read from 0
//! is empty.

use std::fs::File;
use std::io;

/// The protocol's own descriptors.
#[derive(Debug)]
pub struct ProtocolStreams {
    /// What the peer sends.
    pub input: File,
    /// What the peer reads.
    pub output: File,
}

/// Moves standard input and output to descriptors of their own; 0 becomes the null device and 1 standard error.
///
/// # Errors
///
/// When the system has no descriptor left, or there is no null device.
#[cfg(unix)]
pub fn take() -> io::Result<ProtocolStreams> {
    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
    let input = File::from(fcntl_dupfd_cloexec(stdin(), 3)?);
    let output = File::from(fcntl_dupfd_cloexec(stdout(), 3)?);
    dup2_stdin(File::open("/dev/null")?)?;
    // A closed standard error must not make descriptor 1 the protocol's again.
    if dup2_stdout(stderr()).is_err() {
        dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    }
    Ok(ProtocolStreams { input, output })
}

/// Not moved on this system: handles are not inherited by number there.
///
/// # Errors
///
/// Always, since it is not built for this system yet.
#[cfg(not(unix))]
pub fn take() -> io::Result<ProtocolStreams> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "protocol streams are not moved on this system"))
}

/// Tells whether a line written to standard error now would not block.
#[must_use]
pub fn stderr_has_room() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let error = rustix::stdio::stderr();
        let mut descriptors = [PollFd::new(&error, PollFlags::OUT)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut descriptors, Some(&at_once)), Ok(1)) && descriptors[0].revents().contains(PollFlags::OUT)
    }
    #[cfg(not(unix))]
    {
        true
    }
}

/// Tells whether the other end of `input` was closed, also while bytes are left to be read.
#[must_use]
pub fn hung_up(input: &File) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut descriptors = [PollFd::new(input, PollFlags::RDHUP)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
        matches!(poll(&mut descriptors, Some(&at_once)), Ok(1)) && descriptors[0].revents().intersects(gone)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = input;
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_closed_pipe_is_seen_though_bytes_are_left() {
        let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
        let (reader, mut writer) = (File::from(reader), File::from(writer));
        writer.write_all(b"left").expect("room");
        assert!(!hung_up(&reader));
        drop(writer);
        assert!(hung_up(&reader));
    }

    #[test]
    fn a_socket_whose_peer_writes_no_more_is_seen() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("sockets");
        let ours = File::from(std::os::fd::OwnedFd::from(ours));
        assert!(!hung_up(&ours));
        theirs.shutdown(std::net::Shutdown::Write).expect("it is open");
        assert!(hung_up(&ours));
    }
}
