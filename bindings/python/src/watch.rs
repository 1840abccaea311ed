//! Long work on another thread, while the calling one looks for Ctrl-C and calls Python.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use jsf_fit::goals::{FitObserver, FitProgress};
use jsf_simulate::Observer;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use rayon::ThreadPoolBuilder;

/// The time between two looks for Ctrl-C.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);
/// The stack of the thread that works: that of a main thread.
const STACK: usize = 8 << 20;

/// How far the work is: what a callback is told.
struct Progress {
    evaluations: usize,
    planned: usize,
    best: Option<String>,
    /// Wakes the work, which waits until the callback has returned.
    seen: mpsc::Sender<()>,
}

/// Tells the calling thread of the progress, and learns from it when to end.
pub struct Watch<'a> {
    /// `None`: nobody asks for it.
    progress: Option<Mutex<mpsc::Sender<Progress>>>,
    is_ended: &'a AtomicBool,
}

impl Watch<'_> {
    /// Calls Python's callback, if there is one. May end the work.
    pub fn report(
        &self,
        evaluations: usize,
        planned: usize,
        best: Option<&str>,
    ) -> ControlFlow<()> {
        if let Some(sender) = self
            .progress
            .as_ref()
            .and_then(|progress| progress.lock().ok())
        {
            let (seen, wake) = mpsc::channel();
            let best = best.map(str::to_owned);
            if sender
                .send(Progress {
                    evaluations,
                    planned,
                    best,
                    seen,
                })
                .is_ok()
            {
                // an error: the calling thread does not call any more
                let _ = wake.recv();
            }
        }
        self.poll()
    }
}

impl FitObserver for Watch<'_> {
    fn progress(&self, progress: &FitProgress<'_>) -> ControlFlow<()> {
        self.report(
            progress.evaluations,
            progress.planned,
            progress.best.map(|best| &*best.formula),
        )
    }

    fn poll(&self) -> ControlFlow<()> {
        if self.is_ended.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Observer for &Watch<'_> {
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        self.poll()
    }
}

/// Works without the GIL. `progress` is a callable: `False` ends the work, which then gives what it
/// has. An exception in it, and one that a signal raises, such as Ctrl-C, ends it too, and is
/// raised.
pub fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch<'_>) -> T + Send,
) -> PyResult<T> {
    let callback = progress.map(|callback| callback.clone().unbind());
    let is_ended = AtomicBool::new(false);
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, reports) = mpsc::channel();
            // a sender that only disconnects when the work has ended, also where nobody asks for
            // progress
            let (alive, ended) = (sender.clone(), &is_ended);
            let progress = callback.is_some().then(|| Mutex::new(sender));
            // the callback may itself use the threads that all share: those that wait for it must
            // be others
            let pool = callback
                .is_some()
                .then(|| ThreadPoolBuilder::new().build())
                .transpose();
            let pool = pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            let worker =
                thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, move || {
                        let watch = Watch {
                            progress,
                            is_ended: ended,
                        };
                        let result = match pool {
                            Some(pool) => pool.install(|| work(&watch)),
                            None => work(&watch),
                        };
                        drop(alive);
                        result
                    })?;
            let raised = listen(&reports, callback.as_ref(), &is_ended);
            let result = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            raised.map_or(Ok(result), Err)
        })
    })
}

/// Calls the callback until the work has ended. Returns the exception that ended it.
fn listen(
    reports: &mpsc::Receiver<Progress>,
    callback: Option<&Py<PyAny>>,
    is_ended: &AtomicBool,
) -> Option<PyErr> {
    let mut raised = None;
    loop {
        let called = match reports.recv_timeout(BETWEEN_SIGNALS) {
            Err(RecvTimeoutError::Disconnected) => return raised,
            // until the work has ended, nothing else is asked of Python
            _ if is_ended.load(Ordering::Relaxed) => continue,
            Err(RecvTimeoutError::Timeout) => {
                Python::attach(|py| py.check_signals().map(|()| true))
            }
            Ok(report) => {
                let called = Python::attach(|py| call(py, callback, &report));
                if !matches!(called, Ok(true)) {
                    is_ended.store(true, Ordering::Relaxed);
                }
                // an error: the work has ended meanwhile
                let _ = report.seen.send(());
                called
            }
        };
        match called {
            Ok(true) => {}
            Ok(false) => is_ended.store(true, Ordering::Relaxed),
            Err(error) => {
                is_ended.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
    }
}

/// Whether to go on.
fn call(py: Python<'_>, callback: Option<&Py<PyAny>>, report: &Progress) -> PyResult<bool> {
    let Progress {
        evaluations,
        planned,
        best,
        ..
    } = report;
    let answer = callback
        .map(|callback| callback.bind(py).call1((evaluations, planned, best)))
        .transpose()?;
    py.check_signals()?;
    Ok(answer.is_none_or(|answer| !answer.is(PyBool::new(py, false))))
}
