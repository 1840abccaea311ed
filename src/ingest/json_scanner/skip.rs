//! Values that nobody needs: passed over, and yet held to the rules of JSON.

use crate::ingest::json_scanner::Scanner;
use crate::ingest::swar as words;

/// The deepest nesting that is passed over.
const DEEPEST: u32 = 64;

impl Scanner<'_> {
    /// Passes over a value.
    #[inline]
    pub(crate) fn skip_value(&mut self) -> Option<()> {
        match self.peek() {
            b'"' => {
                self.at += 1;
                self.skip_text()
            }
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_bare(),
        }
    }

    fn skip_bare(&mut self) -> Option<()> {
        match self.peek() {
            b't' => self.word_of(b"true"),
            b'f' => self.word_of(b"false"),
            b'n' => self.word_of(b"null"),
            _ => self.number().map(|_| ()),
        }
    }

    /// Passes over an object or a list with all that is in it.
    fn skip_nested(&mut self) -> Option<()> {
        // One bit for each that is open, the innermost last: whether it is an object.
        let (mut open, mut depth) = (0u64, 0);
        loop {
            let is_empty = match self.peek() {
                opener @ (b'{' | b'[') if depth < DEEPEST => {
                    (open, depth) = (open << 1 | u64::from(opener == b'{'), depth + 1);
                    self.at += 1;
                    self.space();
                    self.peek() == closer(open)
                }
                b'"' => {
                    self.at += 1;
                    self.skip_text()?;
                    true
                }
                b'{' | b'[' => return None,
                _ => {
                    self.skip_bare()?;
                    true
                }
            };
            if is_empty {
                self.space();
                while self.peek() == closer(open) {
                    (open, depth) = (open >> 1, depth - 1);
                    self.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                    self.space();
                }
                self.take(b',')?;
                self.space();
            }
            if open & 1 == 1 {
                self.skip_key()?;
            }
        }
    }

    /// Passes over any key and what stands up to its value.
    #[inline]
    pub(crate) fn skip_key(&mut self) -> Option<()> {
        self.take(b'"')?;
        self.skip_text()?;
        self.space();
        self.take(b':')?;
        self.space();
        Some(())
    }

    /// Passes over any text, from behind its first quote to behind its last.
    ///
    /// Bytes beyond ASCII pass as they are: where they are no UTF-8 each is replaced and none swallows a quote.
    #[inline]
    fn skip_text(&mut self) -> Option<()> {
        loop {
            match self.group().map(words::stop_in) {
                Some(16) => {
                    self.at += 16;
                    continue;
                }
                stop => self.at += stop.unwrap_or(0),
            }
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.skip_escape()?,
                0..b' ' => return None,
                _ => self.at += 1,
            }
        }
    }

    #[inline]
    fn group(&self) -> Option<&[u8; 16]> {
        self.bytes.get(self.at..)?.first_chunk()
    }

    fn skip_escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                self.at += digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?;
            }
            _ => return None,
        }
        Some(())
    }
}

fn closer(open: u64) -> u8 {
    if open & 1 == 1 { b'}' } else { b']' }
}
