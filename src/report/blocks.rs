//! Long reports: text made block by block on all processors, written in order.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// How many items make a block of text.
const BLOCK: usize = 1024;

/// How many blocks of a thread may wait for their turn.
const WAITING: usize = 16;

/// The text of a block, and the number of the thread that made it.
struct Text {
    bytes: Vec<u8>,
    maker: usize,
}

/// The texts from the next one to be written on, as far as they are made.
#[derive(Default)]
struct Ready {
    next: usize,
    texts: VecDeque<Option<Text>>,
}

impl Ready {
    fn put(&mut self, (block, text): (usize, Text)) {
        let place = block - self.next;
        self.texts.resize_with(self.texts.len().max(place + 1), || None);
        self.texts[place] = Some(text);
    }

    fn take(&mut self) -> Option<Text> {
        let text = self.texts.front_mut()?.take()?;
        self.texts.pop_front();
        self.next += 1;
        Some(text)
    }
}

/// Writes what `write_block` appends for some items after the other, in their order. No more than
/// [`WAITING`] blocks for each thread are in memory.
///
/// # Errors
/// What `out` answers; then nothing more is made or written.
pub(super) fn write_blocks<T: Sync>(
    items: &[T],
    out: &mut dyn Write,
    write_block: impl Fn(&[T], &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let (blocks, next) = (items.len().div_ceil(BLOCK), AtomicUsize::new(0));
    let make = |mut text: Text| {
        let block = next.fetch_add(1, Relaxed);
        let items = items.chunks(BLOCK).nth(block)?;
        text.bytes.clear();
        write_block(items, &mut text.bytes);
        Some((block, text))
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(blocks);
        // a text that was written goes back to its maker, who makes the next one in its memory
        let (backs, mut spares): (Vec<_>, VecDeque<_>) = (0..threads).map(texts_of).unzip();
        let (sender, receiver) = channel();
        let own = spares.pop_front();
        for spare in spares {
            let (sender, make) = (sender.clone(), &make);
            let work = move || _ = spare.iter().map_while(make).all(|made| sender.send(made).is_ok());
            // what a thread that cannot be had would make is made below
            drop(thread::Builder::new().spawn_scoped(scope, work));
        }
        drop(sender);
        let mut ready = Ready::default();
        while ready.next < blocks {
            receiver.try_iter().for_each(|made| ready.put(made));
            if let Some(text) = ready.take() {
                out.write_all(&text.bytes)?;
                // a thread that has made its last block wants no text back
                _ = backs[text.maker].send(text);
            } else if let Some(made) = own.as_ref().and_then(|own| make(own.try_recv().ok()?)) {
                // better than to wait
                ready.put(made);
            } else if let Ok(made) = receiver.recv() {
                ready.put(made);
            } else {
                break;
            }
        }
        Ok(())
    })
}

/// The texts that one thread makes, as many as may wait for their turn.
fn texts_of(maker: usize) -> (Sender<Text>, Receiver<Text>) {
    let (back, spare) = channel();
    (0..WAITING).for_each(|_| _ = back.send(Text { bytes: Vec::new(), maker }));
    (back, spare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_in_order() {
        for count in [0, 1, BLOCK, 10 * BLOCK + 7] {
            let items: Vec<usize> = (0..count).collect();
            let mut out = Vec::new();
            let write_block =
                |items: &[usize], text: &mut Vec<u8>| items.iter().for_each(|item| _ = writeln!(text, "{item}"));
            write_blocks(&items, &mut out, write_block).unwrap();
            let expected: String = items.iter().map(|item| format!("{item}\n")).collect();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_closed_pipe_ends_it() {
        struct Closed(usize);
        impl Write for Closed {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let items: Vec<usize> = (0..100 * BLOCK).collect();
        let error = write_blocks(&items, &mut Closed(3), |_, text| text.push(b'x')).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
