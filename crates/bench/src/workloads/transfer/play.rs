//! What the two processes of a pair do, over any transport.
//!
//! What must stay true: every message's stamps are checked, and all bytes of the messages before and of the last message of
//! the timed part. Both processes of a pair know the last message by its stamp, so they end together.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::message::Message;
use crate::{
    Error, Result,
    harness::{events::Recorder, launcher::Rank, noise, parse::seconds},
};

/// The phase with the timed messages.
pub(crate) const TRANSFER: &str = "transfer";
/// The phase before, which opens the way and compares every byte.
const SETUP: &str = "setup";
/// The messages of that phase in each direction.
const WARM_UP: u64 = 4;
/// Operations of smaller messages are of several messages, so that events stay few.
const OPERATION_MIN: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    /// The first process of each pair sends
    OneWay,
    /// Both send at the same time
    BothWays,
    /// A message goes there and comes back: the latency
    PingPong,
}

/// What a pair does. Also the options of a rank that an MPI launcher starts.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Who sends
    #[arg(long)]
    pub(super) direction: Direction,
    /// Bytes of a message
    #[arg(long)]
    pub(super) size: usize,
    /// Messages of each sender
    #[arg(long)]
    pub(super) messages: Option<u64>,
    /// How long to send, where there is no number of messages
    #[arg(long, value_parser = seconds)]
    pub(super) seconds: f64,
    /// The longest wait for a message
    #[arg(long, value_parser = seconds)]
    pub(super) timeout: f64,
}

impl Plan {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }

    /// The messages of an operation.
    pub(super) fn messages_per_operation(&self) -> u64 {
        match self.direction {
            Direction::OneWay | Direction::BothWays => (OPERATION_MIN / self.size).max(1) as u64,
            Direction::PingPong => 1,
        }
    }
}

/// A way to the other process of the pair.
pub(super) trait Wire {
    fn send(&mut self, bytes: &[u8]) -> Result<()>;
    fn receive(&mut self, buffer: &mut [u8]) -> Result<()>;
    /// Sends and receives at the same time.
    fn exchange(&mut self, bytes: &[u8], buffer: &mut [u8]) -> Result<()>;
}

/// What runs phases that all processes begin together.
pub(super) trait Stage {
    fn phase(&mut self, name: &str, work: &mut dyn FnMut(&mut Recorder) -> Result<()>) -> Result<()>;
}

/// The process at the other end of a pair, and whether this one is the first, which sends where one sends.
pub(super) fn partner(rank: Rank) -> (u32, bool) {
    let half = rank.processes / 2;
    let (is_first, _) = rank.half();
    (if is_first { rank.process + half } else { rank.process - half }, is_first)
}

/// The node of a process. Each node has as many, and the first ones are on the first.
pub(super) fn node_of(process: u32, processes: u32, nodes: usize) -> usize {
    process as usize * nodes / processes.max(1) as usize
}

/// Runs one process. `other` is the name of its partner.
pub(super) fn play(
    plan: &Plan,
    rank: Rank,
    other: &str,
    stage: &mut dyn Stage,
    wire: &mut dyn Wire,
) -> Result<()> {
    let (partner, is_first) = partner(rank);
    let bytes = noise::block(plan.size).into_vec();
    let (buffer, expected) = (vec![0; plan.size], bytes.clone());
    let mut pair =
        Pair { plan, own: rank.process, partner, is_first, wire, bytes, buffer, expected, began: None };
    let from = |error| match error {
        Error::WrongData { what, expected } => {
            Error::wrong(format!("from {other} to process {}: {what}", rank.process), expected)
        }
        error => error,
    };
    stage.phase(SETUP, &mut |_| pair.warm_up().map_err(from))?;
    stage.phase(TRANSFER, &mut |recorder| {
        match plan.direction {
            Direction::OneWay => pair.one_way(recorder),
            Direction::BothWays => pair.both_ways(recorder),
            Direction::PingPong => pair.ping_pong(recorder),
        }
        .map_err(from)
    })
}

struct Pair<'w> {
    plan: &'w Plan,
    own: u32,
    partner: u32,
    is_first: bool,
    wire: &'w mut dyn Wire,
    bytes: Vec<u8>,
    buffer: Vec<u8>,
    /// The bytes that are compared with what arrives.
    expected: Vec<u8>,
    began: Option<Instant>,
}

impl Pair<'_> {
    fn warm_up(&mut self) -> Result<()> {
        for number in 0..WARM_UP {
            let is_last = number + 1 == WARM_UP;
            if self.is_first {
                self.stamp(number, is_last);
                self.wire.send(&self.bytes)?;
            }
            self.wire.receive(&mut self.buffer)?;
            let found = Message { sender: self.partner, number, is_last };
            found.check_bytes(&self.buffer, &mut self.expected)?;
            if !self.is_first {
                self.stamp(number, is_last);
                self.wire.send(&self.bytes)?;
            }
        }
        Ok(())
    }

    fn stamp(&mut self, number: u64, is_last: bool) {
        Message { sender: self.own, number, is_last }.write_stamp(&mut self.bytes);
    }

    fn check(&self, number: u64) -> Result<bool> {
        Message::check_stamp(self.partner, number, &self.buffer)
    }

    /// Compares all bytes of the last message, after the time.
    fn check_whole(&mut self, number: u64, is_last: bool) -> Result<()> {
        let message = Message { sender: self.partner, number, is_last };
        message.check_bytes(&self.buffer, &mut self.expected)
    }

    /// Whether the message that is sent next is the last one, which ends an operation.
    fn is_last(&mut self, number: u64) -> bool {
        let began = *self.began.get_or_insert_with(Instant::now);
        if !(number + 1).is_multiple_of(self.plan.messages_per_operation()) {
            return false;
        }
        match self.plan.messages {
            Some(messages) => number + 1 >= messages,
            None => began.elapsed().as_secs_f64() >= self.plan.seconds,
        }
    }

    fn one_way(&mut self, recorder: &mut Recorder) -> Result<()> {
        if self.is_first {
            for number in 0.. {
                let is_last = self.is_last(number);
                self.stamp(number, is_last);
                self.wire.send(&self.bytes)?;
                if is_last {
                    break;
                }
            }
            return Ok(());
        }
        let last = self.receive_all(recorder, |pair, number| {
            pair.wire.receive(&mut pair.buffer)?;
            pair.check(number)
        })?;
        self.check_whole(last, true)
    }

    /// Both send message after message, each as soon as the one before has gone and come.
    fn both_ways(&mut self, recorder: &mut Recorder) -> Result<()> {
        let last = self.receive_all(recorder, |pair, number| {
            // One decides for both: the other learns it from the stamp.
            let is_last = pair.is_first && pair.is_last(number);
            pair.stamp(number, is_last);
            pair.wire.exchange(&pair.bytes, &mut pair.buffer)?;
            Ok(pair.check(number)? || is_last)
        })?;
        self.check_whole(last, !self.is_first)
    }

    /// Records operations of messages that arrive, and returns the number of the last one.
    fn receive_all(
        &mut self,
        recorder: &mut Recorder,
        mut receive: impl FnMut(&mut Self, u64) -> Result<bool>,
    ) -> Result<u64> {
        let per_operation = self.plan.messages_per_operation();
        let bytes = per_operation * self.plan.size as u64;
        let mut next = 0;
        loop {
            let is_last = recorder.operation(|timer| {
                timer.transfer(bytes, || {
                    let mut is_last = false;
                    for _ in 0..per_operation {
                        is_last = receive(self, next)?;
                        next += 1;
                    }
                    Ok(is_last)
                })
            })?;
            if is_last {
                return Ok(next - 1);
            }
        }
    }

    /// The first process records round trips.
    fn ping_pong(&mut self, recorder: &mut Recorder) -> Result<()> {
        let bytes = 2 * self.plan.size as u64;
        for number in 0.. {
            let is_last = if self.is_first {
                let is_last = self.is_last(number);
                self.stamp(number, is_last);
                recorder.operation(|timer| {
                    timer.transfer(bytes, || {
                        self.wire.send(&self.bytes)?;
                        self.wire.receive(&mut self.buffer)
                    })
                })?;
                self.check(number)?
            } else {
                self.wire.receive(&mut self.buffer)?;
                let is_last = self.check(number)?;
                self.stamp(number, is_last);
                self.wire.send(&self.bytes)?;
                is_last
            };
            if is_last {
                return self.check_whole(number, true);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;
    use crate::harness::events::{Clock, Operation};

    /// A wire between two threads.
    struct Threads {
        to: Sender<Vec<u8>>,
        from: Receiver<Vec<u8>>,
        /// The number of a message, counted from 0 over all phases, one byte of which is changed on its way.
        damages: Option<usize>,
        received: usize,
    }

    impl Wire for Threads {
        fn send(&mut self, bytes: &[u8]) -> Result<()> {
            self.to.send(bytes.to_owned()).map_err(|_| Error::Stopped)
        }

        fn receive(&mut self, buffer: &mut [u8]) -> Result<()> {
            let mut bytes = self.from.recv().map_err(|_| Error::Stopped)?;
            if self.damages == Some(self.received) {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
            self.received += 1;
            buffer.copy_from_slice(&bytes);
            Ok(())
        }

        fn exchange(&mut self, bytes: &[u8], buffer: &mut [u8]) -> Result<()> {
            self.send(bytes)?;
            self.receive(buffer)
        }
    }

    #[derive(Default)]
    struct Alone(Vec<Operation>);

    impl Stage for Alone {
        fn phase(&mut self, _: &str, work: &mut dyn FnMut(&mut Recorder) -> Result<()>) -> Result<()> {
            let mut recorder = Recorder::new(Clock::start(), 0);
            work(&mut recorder)?;
            self.0.extend(recorder.operations);
            Ok(())
        }
    }

    /// The operations of both processes of a pair.
    fn played(plan: &Plan, damages: Option<usize>) -> [Result<Vec<Operation>>; 2] {
        let (to_second, from_first) = channel();
        let (to_first, from_second) = channel();
        let one = |process, to, from, damages| {
            let plan = plan.clone();
            std::thread::spawn(move || {
                let rank = Rank { process, processes: 2, node: 0, nodes: 1 };
                let mut wire = Threads { to, from, damages, received: 0 };
                let mut stage = Alone::default();
                play(&plan, rank, "the other", &mut stage, &mut wire).map(|()| stage.0)
            })
        };
        let both = [one(0, to_second, from_second, None), one(1, to_first, from_first, damages)];
        both.map(|thread| thread.join().unwrap())
    }

    fn plan(direction: Direction, size: usize, messages: u64) -> Plan {
        Plan { direction, size, messages: Some(messages), seconds: 0.0, timeout: 1.0 }
    }

    #[test]
    fn receivers_record_what_arrives_and_the_first_process_its_round_trips() {
        for (direction, size, messages, expected) in [
            (Direction::OneWay, 1 << 20, 5, [0, 5]),
            (Direction::OneWay, 1 << 18, 5, [0, 2]),
            (Direction::BothWays, 1 << 20, 5, [5, 5]),
            (Direction::PingPong, 8, 5, [5, 0]),
        ] {
            let found = played(&plan(direction, size, messages), None).map(Result::unwrap);
            assert_eq!(found.each_ref().map(Vec::len), expected, "{direction:?} {size}");
        }
        let [_, arrived] = played(&plan(Direction::OneWay, 1 << 18, 5), None).map(Result::unwrap);
        assert!(arrived.iter().all(|one| one.bytes == 1 << 20), "an operation is of at least 1 MiB");
        let timed = Plan { messages: None, seconds: 0.01, ..plan(Direction::BothWays, 1 << 20, 0) };
        let [first, second] = played(&timed, None).map(Result::unwrap);
        assert!(!first.is_empty() && first.len() == second.len(), "both end with the same message");
    }

    #[test]
    fn a_byte_that_changes_on_its_way_fails_the_pair() {
        for (direction, damages) in [
            (Direction::OneWay, 0),
            (Direction::OneWay, 8),
            (Direction::BothWays, 8),
            (Direction::PingPong, 3),
        ] {
            // The last message of 5 is the ninth, after four of the setup.
            let [_, second] = played(&plan(direction, 1 << 20, 5), Some(damages));
            let error = second.unwrap_err().to_string();
            assert!(error.contains("from the other to process 1: byte 524288 of message"), "{error}");
        }
    }
}
