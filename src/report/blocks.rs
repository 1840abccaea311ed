//! Long reports: text made block by block on all processors, written in order.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

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
    // the blocks before tell how long one becomes
    let longest = AtomicUsize::new(0);
    let text_of = |items: &[T]| {
        let mut text = String::with_capacity(longest.load(Ordering::Relaxed));
        write_block(items, &mut text);
        longest.fetch_max(text.len(), Ordering::Relaxed);
        text
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len() / BLOCK);
    if threads < 2 {
        return items.chunks(BLOCK).try_for_each(|items| out.write_all(text_of(items).as_bytes()));
    }
    thread::scope(|scope| {
        // thread n makes the blocks n, n + threads, …, so that each block's sender is known
        let from_thread = |first: usize| -> Receiver<String> {
            let (sender, receiver) = sync_channel(WAITING);
            let mut blocks = items.chunks(BLOCK).skip(first).step_by(threads);
            let text_of = &text_of;
            let work = move || _ = blocks.all(|items| sender.send(text_of(items)).is_ok());
            drop(thread::Builder::new().spawn_scoped(scope, work));
            receiver
        };
        let receivers: Vec<_> = (0..threads).map(from_thread).collect();
        items.chunks(BLOCK).zip(receivers.iter().cycle()).try_for_each(|(items, receiver)| {
            // where there is no thread the block is made here
            let text = receiver.recv().unwrap_or_else(|_| text_of(items));
            out.write_all(text.as_bytes())
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
