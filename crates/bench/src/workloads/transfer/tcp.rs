//! Pairs over TCP: one process listens, its partner connects, and both send over one connection.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{IpAddr, TcpListener, TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

use isotach_engine_kit::random;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    net::{RecvFlags, SendFlags, recv, send},
};
use serde::{Deserialize, Serialize};

use super::play::{Plan, Stage, Wire, node_of, partner, play};
use crate::{
    Error, Result,
    harness::{
        events::Recorder,
        launcher::{Process, Task},
    },
};

pub(crate) const NAME: &str = "transfer";
/// The barrier at which listeners tell their ports.
const CONNECT: &str = "connect";
/// Bytes by which a listener knows its partner: anyone may connect to a port.
const TOKEN: usize = 16;
/// How long a stranger on the port may be silent.
const GREETING_MAX: Duration = Duration::from_secs(2);

/// The work of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Transfer {
    pub(super) plan: Plan,
    /// The names of the nodes.
    pub(super) hosts: Vec<String>,
    /// Their addresses on the network that is measured; loopback without nodes.
    pub(super) addresses: Vec<String>,
}

/// Where a listener waits.
#[derive(Debug, Serialize, Deserialize)]
struct Invitation {
    port: u16,
    token: [u8; TOKEN],
}

impl Transfer {
    pub(super) fn task(&self) -> Result<Task> {
        Task::new(NAME, self)
    }
}

/// The address as one of this machine that no other reaches, if it is one.
fn loopback(address: &str) -> Option<IpAddr> {
    address.parse().ok().filter(IpAddr::is_loopback)
}

/// Runs one process.
pub(crate) fn run(transfer: &Transfer, process: &mut Process) -> Result<()> {
    let rank = process.rank;
    let (other, is_first) = partner(rank);
    let node = node_of(other, rank.processes, transfer.hosts.len());
    let (host, address) = (&transfer.hosts[node], &transfer.addresses[node]);
    let name = format!("process {other} on {host}");
    let listener = match is_first {
        true => None,
        false => Some(Listener::open(loopback(&transfer.addresses[rank.node as usize]))?),
    };
    let own = listener.as_ref().map_or(Ok(String::new()), |listener| listener.invitation())?;
    let told = process.tell(CONNECT, own)?;
    let timeout = transfer.plan.timeout();
    let stream = match &listener {
        Some(listener) => listener.accept(&name, timeout)?,
        None => {
            let text = told.get(&other).map(String::as_str).unwrap_or_default();
            let invitation = serde_json::from_str(text);
            let invitation = invitation.map_err(|_| {
                Error::invalid(format!("{text:?} as the port of {name}"), "a port and a token")
            })?;
            connect(&invitation, address, &name, timeout)?
        }
    };
    let mut wire = Tcp::new(stream, name.clone(), timeout)?;
    play(&transfer.plan, rank, &name, process, &mut wire)
}

impl Stage for Process {
    fn phase(&mut self, name: &str, work: &mut dyn FnMut(&mut Recorder) -> Result<()>) -> Result<()> {
        self.phase(name, |recorder| work(recorder))
    }
}

struct Listener {
    listener: TcpListener,
    token: [u8; TOKEN],
}

impl Listener {
    /// Listens on a free port, of the loopback address alone if there is one: then no other machine reaches it.
    fn open(loopback: Option<IpAddr>) -> Result<Self> {
        let bound = match loopback {
            Some(address) => TcpListener::bind((address, 0)),
            None => TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0")),
        };
        let listener = bound.map_err(Error::pipe("listen on a port of TCP"))?;
        listener.set_nonblocking(true).map_err(Error::pipe("listen on a port of TCP"))?;
        Ok(Self { listener, token: random::bytes()? })
    }

    fn invitation(&self) -> Result<String> {
        let port = self.listener.local_addr().map_err(Error::pipe("find the port"))?.port();
        crate::harness::output::json(&Invitation { port, token: self.token })
    }

    /// Waits for the partner. A connection without its token is dropped.
    fn accept(&self, name: &str, timeout: Duration) -> Result<TcpStream> {
        let began = Instant::now();
        while let Some(rest) = timeout.checked_sub(began.elapsed()) {
            let is_ready =
                wait(&self.listener, PollFlags::IN, rest).map_err(Error::pipe("wait for a peer"))?;
            if !is_ready {
                break;
            }
            let Ok((mut stream, _)) = self.listener.accept() else { continue };
            let mut token = [0; TOKEN];
            let greeting = stream
                .set_nonblocking(false)
                .and_then(|()| stream.set_read_timeout(Some(GREETING_MAX)))
                .and_then(|()| stream.read_exact(&mut token));
            if greeting.is_ok() && token == self.token {
                return Ok(stream);
            }
        }
        let seconds = timeout.as_secs_f64();
        Err(Error::pipe(format!("wait {seconds} s for the connection of {name}"))(ErrorKind::TimedOut.into()))
    }
}

fn connect(invitation: &Invitation, address: &str, name: &str, timeout: Duration) -> Result<TcpStream> {
    let port = invitation.port;
    let what = || format!("connect to {name} at {address} port {port}");
    let found = (address, port).to_socket_addrs().map_err(Error::pipe(what()))?;
    let mut failure = io::Error::from(ErrorKind::AddrNotAvailable);
    for at in found {
        match TcpStream::connect_timeout(&at, timeout) {
            Ok(mut stream) => {
                stream.write_all(&invitation.token).map_err(Error::pipe(what()))?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(Error::pipe(what())(failure))
}

/// Waits until a descriptor is ready, and returns whether it is.
fn wait(descriptor: &impl rustix::fd::AsFd, flags: PollFlags, timeout: Duration) -> io::Result<bool> {
    let limit = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
    match poll(&mut [PollFd::new(descriptor, flags)], Some(&limit)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// A connection to the partner.
struct Tcp {
    stream: TcpStream,
    name: String,
    timeout: Duration,
}

impl Tcp {
    fn new(stream: TcpStream, name: String, timeout: Duration) -> Result<Self> {
        // Without this a small message would wait for the acknowledgement of the one before.
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(timeout)))
            .and_then(|()| stream.set_write_timeout(Some(timeout)))
            .map_err(Error::pipe(format!("set up the connection to {name}")))?;
        Ok(Self { stream, name, timeout })
    }

    fn failed(&self, verb: &str, error: &io::Error) -> Error {
        let name = &self.name;
        let seconds = self.timeout.as_secs_f64();
        let how = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!("nothing moved for {seconds} s (--timeout)")
            }
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                format!("{name} has ended or closed the connection")
            }
            _ => error.to_string(),
        };
        Error::pipe(format!("{verb} {name} over TCP"))(io::Error::new(error.kind(), how))
    }
}

impl Wire for Tcp {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).map_err(|error| self.failed("send to", &error))
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<()> {
        self.stream.read_exact(buffer).map_err(|error| self.failed("receive from", &error))
    }

    fn exchange(&mut self, bytes: &[u8], buffer: &mut [u8]) -> Result<()> {
        exchange(&self.stream, bytes, buffer, self.timeout)
            .map_err(|error| self.failed("exchange messages with", &error))
    }
}

/// Sends and receives at the same time. Neither direction waits for the other: each moves whatever the connection takes or has.
fn exchange(stream: &TcpStream, bytes: &[u8], buffer: &mut [u8], timeout: Duration) -> io::Result<()> {
    let (mut sent, mut filled) = (0, 0);
    while sent < bytes.len() || filled < buffer.len() {
        let mut has_moved = false;
        if sent < bytes.len() {
            match send(stream, &bytes[sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => (sent, has_moved) = (sent + count, true),
                Err(error) if is_busy(error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if filled < buffer.len() {
            match recv(stream, &mut buffer[filled..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok((count, _)) => (filled, has_moved) = (filled + count, true),
                Err(error) if is_busy(error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if has_moved {
            continue;
        }
        let out = if sent < bytes.len() { PollFlags::OUT } else { PollFlags::empty() };
        let inward = if filled < buffer.len() { PollFlags::IN } else { PollFlags::empty() };
        if !wait(stream, out | inward, timeout)? {
            return Err(ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

fn is_busy(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::AGAIN, Errno::WOULDBLOCK, Errno::INTR].contains(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn connected() -> [Tcp; 2] {
        let listener = Listener::open(loopback("127.0.0.1")).unwrap();
        let invitation = serde_json::from_str(&listener.invitation().unwrap()).unwrap();
        let first = connect(&invitation, "127.0.0.1", "process 1", SOON).unwrap();
        let second = listener.accept("process 0", SOON).unwrap();
        [(first, "process 1"), (second, "process 0")]
            .map(|(stream, name)| Tcp::new(stream, name.to_owned(), SOON).unwrap())
    }

    #[test]
    fn large_messages_pass_each_other_in_both_directions() {
        let [mut one, mut other] = connected();
        // More than the buffers of a connection hold.
        let sent = [vec![1; 32 << 20], vec![2; 32 << 20]];
        let exchange = |wire: &mut Tcp, bytes: &[u8]| {
            let mut buffer = vec![0; bytes.len()];
            wire.exchange(bytes, &mut buffer).map(|()| buffer)
        };
        let received = std::thread::scope(|scope| {
            let first = scope.spawn(|| exchange(&mut one, &sent[0]));
            let second = exchange(&mut other, &sent[1]).unwrap();
            [first.join().unwrap().unwrap(), second]
        });
        assert!(received[0] == sent[1] && received[1] == sent[0]);
    }

    #[test]
    fn a_listener_waits_at_the_loopback_address_that_it_is_given() {
        assert_eq!((loopback("localhost"), loopback("10.0.0.1")), (None, None));
        let listener = Listener::open(loopback("127.0.0.2")).unwrap();
        let invitation = serde_json::from_str(&listener.invitation().unwrap()).unwrap();
        connect(&invitation, "127.0.0.2", "process 1", SOON).unwrap();
        let elsewhere = connect(&invitation, "127.0.0.1", "process 1", SOON).map(drop).unwrap_err();
        assert!(elsewhere.to_string().contains("connect to process 1 at 127.0.0.1"), "{elsewhere}");
    }

    #[test]
    fn a_stranger_on_the_port_is_ignored() {
        let listener = Listener::open(loopback("127.0.0.1")).unwrap();
        let invitation: Invitation = serde_json::from_str(&listener.invitation().unwrap()).unwrap();
        let stranger = Invitation { port: invitation.port, token: [0; TOKEN] };
        let _stranger = connect(&stranger, "127.0.0.1", "process 1", SOON).unwrap();
        let own = connect(&invitation, "127.0.0.1", "process 1", SOON).unwrap();
        let accepted = listener.accept("process 0", SOON).unwrap();
        assert_eq!(accepted.peer_addr().unwrap(), own.local_addr().unwrap());
    }

    #[test]
    fn a_partner_that_is_silent_or_gone_is_named() {
        let listener = Listener::open(loopback("127.0.0.1")).unwrap();
        let none = listener.accept("process 0 on a", Duration::from_millis(5)).map(drop);
        let text = none.unwrap_err().to_string();
        assert!(text.contains("wait 0.005 s for the connection of process 0 on a"), "{text}");
        let [one, other] = connected();
        let mut one = Tcp::new(one.stream, "process 1 on b".to_owned(), Duration::from_millis(5)).unwrap();
        let silent = one.receive(&mut [0; 8]).unwrap_err().to_string();
        assert!(silent.contains("process 1 on b over TCP: nothing moved for 0.005 s"), "{silent}");
        drop(other);
        let gone = one.exchange(&[], &mut [0; 8]).unwrap_err().to_string();
        assert!(gone.contains("process 1 on b has ended or closed the connection"), "{gone}");
    }
}
