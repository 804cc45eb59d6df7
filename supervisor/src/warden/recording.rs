//! What goes into the journal, and what is said where it cannot.
//!
//! Invariant: who appends knows whether the record is there. Refuses nothing by itself: the caller does, where it is not.

use super::gate::Gate;
use super::records;
use stayexec_protocol::{Reason, Record};
use std::io;

impl Gate {
    /// Appends a record and says once if it cannot be.
    pub(super) fn record(&mut self, record: &Record) -> io::Result<()> {
        match self.journal.append(record) {
            Ok(_) => {
                if std::mem::take(&mut self.unrecorded) {
                    super::say("the journal can be written again; the run goes on");
                }
                Ok(())
            }
            Err(e) => {
                self.say_unrecorded();
                Err(e)
            }
        }
    }

    pub(super) fn say_unrecorded(&mut self) {
        if !std::mem::replace(&mut self.unrecorded, true) {
            super::say("the journal cannot be written: nothing more is started until it can (is the disk full, or the file removed?)");
        }
    }

    /// Refused before anything was loaded, with the reason in the journal.
    pub(super) fn record_refusal(&mut self, number: u64, reason: Reason, note: &str) {
        let Some(call) = self.calls.get(number) else { return };
        let record = records::refused(self.mode, number, call.notification.tid, call.request.as_ref(), reason, note);
        // It is refused in any case; an unwritable journal has been reported.
        let _ = self.record(&record);
    }
}
