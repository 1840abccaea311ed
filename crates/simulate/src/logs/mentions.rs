//! What logs say of jobs besides their ends: queued, started, queued again, deleted, moved.

use std::collections::HashMap;

use super::left_out::LeftOutReason;

/// What a line says of a job besides its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mention {
    Queued,
    Started,
    /// An execution ended, and the job waits again.
    Requeued,
    /// It was deleted, or aborted by the server.
    Deleted,
    /// It was moved to another server.
    Moved,
}

/// The lines about jobs, in whatever order they come.
#[derive(Debug, Default)]
pub struct Mentions {
    courses: HashMap<Box<str>, Course>,
}

/// The course of a job: when it last started and was queued again, 0 for never.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    started: u64,
    requeued: u64,
    is_deleted: bool,
    is_moved: bool,
    /// Whether a line about its end was left out, and counted.
    is_left_out: bool,
}

impl Course {
    /// What became of a job that did not end.
    fn fate(&self) -> LeftOutReason {
        if self.started > 0 && self.started >= self.requeued {
            LeftOutReason::Running
        } else if self.is_deleted {
            LeftOutReason::Cancelled
        } else if self.is_moved {
            LeftOutReason::Moved
        } else {
            LeftOutReason::Waiting
        }
    }
}

impl Mentions {
    /// Adds what a line says. `time` orders the lines; it is not 0.
    pub fn add(&mut self, id: &str, mention: Mention, time: u64) {
        let course = match self.courses.get_mut(id) {
            Some(course) => course,
            None => self.courses.entry(id.into()).or_default(),
        };
        match mention {
            Mention::Queued => {}
            Mention::Started => course.started = course.started.max(time),
            Mention::Requeued => course.requeued = course.requeued.max(time),
            Mention::Deleted => course.is_deleted = true,
            Mention::Moved => course.is_moved = true,
        }
    }

    /// Forgets a job that ended, unless more than its end matters.
    pub fn end(&mut self, id: &str) {
        if let Some(course) = self.courses.get(id)
            && course.requeued == 0
        {
            self.courses.remove(id);
        }
    }

    /// Notes that a line about a job's end is left out: the job is not counted again for what the
    /// other lines say.
    pub fn leave_out(&mut self, id: &str) {
        self.courses.entry(id.into()).or_default().is_left_out = true;
    }

    pub fn is_empty(&self) -> bool {
        self.courses.is_empty()
    }

    /// Whether a job, which did not end, was cancelled while it waited.
    pub fn is_cancelled(&self, id: &str) -> bool {
        let fate = self.courses.get(id).map(Course::fate);
        fate == Some(LeftOutReason::Cancelled)
    }

    /// Whether a job was queued again after an execution.
    pub fn is_rerun(&self, id: &str) -> bool {
        matches!(self.courses.get(id), Some(course) if course.requeued > 0)
    }

    /// What became of each job whose end was not read.
    pub fn fates(&self) -> Vec<(&str, LeftOutReason)> {
        let mut fates = Vec::new();
        for (id, course) in &self.courses {
            if !course.is_left_out {
                fates.push((&**id, course.fate()));
            }
        }
        fates
    }
}
