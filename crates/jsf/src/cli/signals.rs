//! Signals that would leave a file half written.

#[cfg(unix)]
pub(super) use unix::HeldSignals;
#[cfg(unix)]
pub use unix::ignore_limit_of_file_size;

/// Where there are no such signals, nothing is held back.
#[cfg(not(unix))]
pub(super) struct HeldSignals;

#[cfg(not(unix))]
impl HeldSignals {
    pub(super) fn new() -> Self {
        Self
    }
}

#[cfg(not(unix))]
pub fn ignore_limit_of_file_size() {}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, OnceLock};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::low_level::emulate_default_handler;

    /// The signals that end a process from outside, except for the one that none can hold back.
    const ENDING: [i32; 5] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU];

    /// From now on a file that would exceed the limit of `ulimit -f` is an error of the function that writes it.
    pub fn ignore_limit_of_file_size() {
        // without the handler the process ends, as it would have
        let _ = flag::register(SIGXFSZ, Arc::default());
    }

    /// Whether signals end the process at once, and the last one that came while they did not.
    struct Signals {
        are_free: Arc<AtomicBool>,
        last: Arc<AtomicUsize>,
    }

    static SIGNALS: OnceLock<Signals> = OnceLock::new();

    /// Until this is dropped, a signal that ends the process from outside waits: the file that is written is then in its
    /// place, or removed.
    pub(in crate::cli) struct HeldSignals(&'static Signals);

    impl HeldSignals {
        pub(in crate::cli) fn new() -> Self {
            let signals = SIGNALS.get_or_init(Signals::register);
            signals.are_free.store(false, Ordering::SeqCst);
            Self(signals)
        }
    }

    impl Drop for HeldSignals {
        fn drop(&mut self) {
            self.0.are_free.store(true, Ordering::SeqCst);
            if let last @ 1.. = self.0.last.load(Ordering::SeqCst) {
                let _ = emulate_default_handler(last as i32);
            }
        }
    }

    impl Signals {
        fn register() -> Self {
            let signals = Self { are_free: Arc::new(AtomicBool::new(true)), last: Arc::default() };
            let ignored = ignored_signals();
            for signal in ENDING.into_iter().filter(|signal| ignored & 1 << (signal - 1) == 0) {
                // without the handlers the signal ends the process at once, and the next writer removes the file
                let _ = flag::register_usize(signal, Arc::clone(&signals.last), signal as usize);
                let _ = flag::register_conditional_default(signal, Arc::clone(&signals.are_free));
            }
            signals
        }
    }

    /// The signals that the process ignores, such as SIGHUP under `nohup`, as bits; all of them if the system does not list
    /// them: with a handler, the process would no longer ignore a signal.
    fn ignored_signals() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(u64::MAX)
    }
}
