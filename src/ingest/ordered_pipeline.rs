//! Pieces of a document, read by several threads and handed on in the document's order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{io, thread};

use crate::ingest::chunks::Pieces;
use crate::ingest::parsed_chunk::ParsedChunk;

/// How many pieces per thread may wait for their turn.
const MOST_WAITING: usize = 4;

/// What the threads share.
struct Shared<'s, C> {
    supply: Mutex<Supply<'s>>,
    turns: Mutex<Turns<C>>,
    moved: Condvar,
    most_waiting: usize,
}

/// What is left to be read.
struct Supply<'s> {
    pieces: Pieces<'s>,
    taken: usize,
    spare: Vec<ParsedChunk>,
    is_stopped: bool,
    error: Option<io::Error>,
}

/// What was read and waits for its turn.
struct Turns<C> {
    waiting: BTreeMap<usize, ParsedChunk>,
    next: usize,
    /// Takes the pieces in order; gone while a thread is at it.
    hand_on: Option<C>,
}

/// Reads pieces until they end or `hand_on` says no: `reader` makes a reader for each thread, and `hand_on` gets what
/// the readers made of the pieces, in the document's order.
///
/// # Errors
/// The source cannot be read.
pub(crate) fn relay<R: FnMut(&mut ParsedChunk), C: FnMut(&mut ParsedChunk) -> bool + Send>(
    pieces: Pieces<'_>,
    threads: usize,
    reader: impl Fn() -> R + Sync,
    hand_on: C,
) -> io::Result<()> {
    let supply = Supply { pieces, taken: 0, spare: Vec::new(), is_stopped: false, error: None };
    let turns = Turns { waiting: BTreeMap::new(), next: 0, hand_on: Some(hand_on) };
    let most_waiting = threads * MOST_WAITING;
    let shared = Shared { supply: Mutex::new(supply), turns: Mutex::new(turns), moved: Condvar::new(), most_waiting };
    thread::scope(|scope| {
        for _ in 1..threads {
            // a thread that cannot be had leaves its pieces to the others
            drop(thread::Builder::new().spawn_scoped(scope, || shared.run(reader())));
        }
        shared.run(reader());
    });
    match lock(&shared.supply).error.take() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// A lock whose holder never panics half way through a change that matters: what it holds is dropped then.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<C: FnMut(&mut ParsedChunk) -> bool> Shared<'_, C> {
    fn run(&self, mut read: impl FnMut(&mut ParsedChunk)) {
        while let Some((number, mut chunk)) = self.take() {
            read(&mut chunk);
            self.hand_in(number, chunk);
        }
    }

    /// The next piece with its number.
    fn take(&self) -> Option<(usize, ParsedChunk)> {
        let mut supply = lock(&self.supply);
        if supply.is_stopped {
            return None;
        }
        let mut chunk = supply.spare.pop().unwrap_or_default();
        match supply.pieces.next(&mut chunk.text) {
            Ok(Some(end)) => chunk.end = end,
            Ok(None) => return None,
            Err(error) => {
                (supply.is_stopped, supply.error) = (true, Some(error));
                return None;
            }
        }
        let number = supply.taken;
        supply.taken += 1;
        (chunk.is_first, chunk.is_last) = (number == 0, supply.pieces.is_over());
        Some((number, chunk))
    }

    /// Hands in a piece, and waits while too many wait for their turn.
    fn hand_in(&self, number: usize, chunk: ParsedChunk) {
        let mut turns = lock(&self.turns);
        turns.waiting.insert(number, chunk);
        loop {
            let is_ready = turns.waiting.contains_key(&turns.next);
            turns = match turns.hand_on.take() {
                Some(hand_on) if is_ready => self.hand_on(turns, hand_on),
                hand_on if turns.waiting.len() > self.most_waiting => {
                    turns.hand_on = hand_on;
                    self.moved.wait(turns).unwrap_or_else(PoisonError::into_inner)
                }
                hand_on => {
                    turns.hand_on = hand_on;
                    return;
                }
            };
        }
    }

    /// Hands on all pieces whose turn it is.
    fn hand_on<'t>(&'t self, mut turns: MutexGuard<'t, Turns<C>>, mut hand_on: C) -> MutexGuard<'t, Turns<C>> {
        loop {
            let next = turns.next;
            let Some(mut chunk) = turns.waiting.remove(&next) else { break };
            drop(turns);
            let goes_on = hand_on(&mut chunk);
            let mut supply = lock(&self.supply);
            supply.is_stopped |= !goes_on;
            supply.spare.push(chunk);
            drop(supply);
            turns = lock(&self.turns);
            turns.next += 1;
        }
        turns.hand_on = Some(hand_on);
        self.moved.notify_all();
        turns
    }
}
