//! Long reports: text made block by block on all processors, written in order.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::{mem, thread};

/// How many items make a block of text.
const BLOCK: usize = 1024;

/// How many finished blocks may wait for their turn, per thread.
const WAITING: usize = 16;

/// Writes what `write_block` appends for some items after the other, in their order. No more than a few blocks are in
/// memory.
///
/// # Errors
/// What `out` answers; then nothing more is made or written.
pub(super) fn write_blocks<T: Sync>(
    items: &[T],
    out: &mut dyn Write,
    write_block: impl Fn(&[T], &mut String) + Sync,
) -> io::Result<()> {
    let text_in = |mut text: String, items: &[T]| {
        text.clear();
        write_block(items, &mut text);
        text
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len() / BLOCK);
    if threads < 2 {
        let mut text = String::new();
        return items.chunks(BLOCK).try_for_each(|items| {
            text = text_in(mem::take(&mut text), items);
            out.write_all(text.as_bytes())
        });
    }
    thread::scope(|scope| {
        // Thread n makes the blocks n, n + threads, …, so that each block's sender is known. A text that was written
        // goes back to its thread, which writes the next one into it.
        let from_thread = |first: usize| -> (Receiver<String>, Sender<String>) {
            let (sender, receiver) = sync_channel(WAITING);
            let (back, spare) = channel::<String>();
            let mut blocks = items.chunks(BLOCK).skip(first).step_by(threads);
            let text_in = &text_in;
            let text_of = move |items| text_in(spare.try_recv().unwrap_or_default(), items);
            let work = move || _ = blocks.all(|items| sender.send(text_of(items)).is_ok());
            drop(thread::Builder::new().spawn_scoped(scope, work));
            (receiver, back)
        };
        let threads: Vec<_> = (0..threads).map(from_thread).collect();
        items.chunks(BLOCK).zip(threads.iter().cycle()).try_for_each(|(items, (receiver, back))| {
            // where there is no thread the block is made here
            let text = receiver.recv().unwrap_or_else(|_| text_in(String::new(), items));
            out.write_all(text.as_bytes())?;
            // a thread that has made its last block wants no text back
            _ = back.send(text);
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn blocks_come_in_order() {
        for count in [0, 1, BLOCK, 10 * BLOCK + 7] {
            let items: Vec<usize> = (0..count).collect();
            let mut out = Vec::new();
            let write_block =
                |items: &[usize], text: &mut String| items.iter().for_each(|item| _ = writeln!(text, "{item}"));
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
        let error = write_blocks(&items, &mut Closed(3), |_, text| text.push('x')).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
