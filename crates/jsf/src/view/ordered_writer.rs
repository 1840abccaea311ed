//! Writes blocks of text that are made in parallel in the order of their lines.

use std::io::{self, Write};

use job_sort_formula::parallel::pipeline;

/// The number of lines in a block.
const BLOCK_LINES: usize = 2048;

/// Writes the text that `write_block` appends for each block of lines. Only a few blocks are in
/// memory at a time.
///
/// # Errors
/// The first error of `out`; no further block is made or written.
pub(crate) fn write_in_order<L: Sync>(
    lines: &[L],
    out: &mut dyn Write,
    write_block: impl Fn(&[L], &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let mut blocks = lines.chunks(BLOCK_LINES);
    pipeline(
        || (&[][..], Vec::new()),
        |(lines, _)| Ok(blocks.next().map(|block| *lines = block).is_some()),
        |(lines, text)| {
            text.clear();
            write_block(lines, text);
        },
        |(_, text)| out.write_all(text).map(|()| true),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_written_in_order() {
        for count in [0, 1, BLOCK_LINES, 100 * BLOCK_LINES + 7] {
            let lines: Vec<usize> = (0..count).collect();
            let mut out = Vec::new();
            write_in_order(&lines, &mut out, |lines, text| {
                lines.iter().for_each(|line| _ = writeln!(text, "{line}"))
            })
            .unwrap();
            let expected: String = lines.iter().map(|line| format!("{line}\n")).collect();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_closed_pipe_ends_the_pipeline() {
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
        let lines: Vec<usize> = (0..100 * BLOCK_LINES).collect();
        let error = write_in_order(&lines, &mut Closed(3), |_, text| text.push(b'x')).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    #[should_panic(expected = "line 50000")]
    fn a_panic_reaches_the_caller() {
        let lines: Vec<usize> = (0..100 * BLOCK_LINES).collect();
        _ = write_in_order(&lines, &mut io::sink(), |lines, _| {
            lines
                .iter()
                .for_each(|line| assert_ne!(*line, 50_000, "line 50000"));
        });
    }
}
