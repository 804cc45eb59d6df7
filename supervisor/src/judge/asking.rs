//! From a program start to its verdict, and to the question that it may open.
//!
//! Invariant: a question is in the store before it is open, and on the disk before its call is told; what an approval
//! grants at once is in the store before it counts. Refuses to fail open: a start that cannot be judged, kept or counted is
//! denied.

use super::agent::{self, Reading};
use super::following::Followed;
use super::judgement::{Judgement, Terms, is_preview, judge, terms};
use super::question::Question;
use super::questions::{Key, Open, Waiting};
use super::remembered::Pattern;
use super::supervisor::Supervisor;
use super::verdicts::{class_of, unjudged, verdict};
use super::workspaces::Workspace;
use super::{belief, environment, facts, text};
use crate::clock::{self, Nanos, rfc3339};
use hmac::Mac;
use stayexec_protocol::{Decision, Event, Message, Reason, Stage, Verdict, Wire};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use uuid::Uuid;

impl Supervisor {
    /// Judges a start, now or once its operands were followed.
    pub(super) fn judge(&mut self, run: Uuid, event: Event) -> Result<(), String> {
        let session = self.sessions.get(&run).ok_or("this run is not known")?;
        let event = belief::believed(session, event, clock::now());
        // A parser that panics on hostile text must neither allow nor take the other runs down with it.
        let read = || {
            let reading = agent::read(session, &event);
            (facts::unread_script(session, &event, &reading), facts::operands(session, &event, &reading), reading)
        };
        match catch_unwind(AssertUnwindSafe(read)) {
            Ok((Some(script), ..)) => self.tell(run, Message::Look(event.call, script)),
            Ok((None, operands, reading)) => {
                if let Some(followed) = self.following.begin(run, event, operands, reading) {
                    self.judge_followed(run, followed);
                }
            }
            Err(_) => self.tell(run, Message::Verdict(verdict(&event, &Reading::PLAIN, &unjudged()))),
        }
        Ok(())
    }

    /// Judges a start whose operands were followed, or could not be.
    pub(super) fn judge_followed(&mut self, run: Uuid, followed: Followed) {
        let Self { sessions, workspaces, .. } = self;
        let Some(session) = sessions.get_mut(&run) else { return };
        let (event, reading) = (&followed.event, &followed.reading);
        let judged = catch_unwind(AssertUnwindSafe(|| judge(session, &followed, clock::now())));
        let mut judgement = judged.unwrap_or_else(|_| unjudged());
        let preview = is_preview(session, event);
        if !preview && event.stage != Stage::Text && session.grants.became(event) {
            // What the process was before is gone, whatever becomes of the new image.
            if let Some(Workspace { store }) = workspaces.get_mut(&session.folder)
                && let Err(e) = store.ungrant(&session.seal, run, &session.grants)
            {
                crate::error::say(&e.to_string());
            }
        }
        if let (Some(news), Some(workspace)) = (session.agents.news(clock::now()), workspaces.get_mut(&session.folder))
            && let Err(e) = workspace.store.keep_agent(&session.seal, run, &news)
        {
            // Only the supervisor after this one asks more.
            crate::error::say(&e.to_string());
        }
        if judgement.decision == Decision::Hold {
            let key = self.key(run, event, reading);
            let (class, now) = (judgement.class, clock::now());
            let kept = if preview { self.tickets.peek(run, key, class, now) } else { self.tickets.take(run, key, class, now) };
            let Some(ticket) = kept else {
                let verdict = self.ask(run, event, reading, key, judgement);
                return self.tell_kept(run, Message::Verdict(verdict));
            };
            judgement = ticket.applied(judgement, now);
        }
        let Self { sessions, workspaces, .. } = self;
        let Some(session) = sessions.get_mut(&run) else { return };
        if let Some(grant) = judgement.grant.take()
            && !is_preview(session, event)
            && !session.grants.has(&grant)
            && let Some(workspace) = workspaces.get_mut(&session.folder)
        {
            match workspace.store.grant(&session.seal, run, &grant) {
                Ok(()) => session.grants.extend([grant]),
                // What it would have covered is asked about.
                Err(e) => crate::error::say(&e.to_string()),
            }
        }
        let verdict = verdict(event, reading, &judgement);
        self.tell(run, Message::Verdict(verdict));
    }

    /// Opens a question for a judgement that holds, or joins the one that is open for the same start.
    fn ask(&mut self, run: Uuid, event: &Event, reading: &Reading, key: Key, judgement: Judgement) -> Verdict {
        let verdict = verdict(event, reading, &judgement);
        let refused = |reason, note: String| Verdict { decision: Decision::Deny, reason, note: note.into_bytes(), ..verdict.clone() };
        let waiting = Waiting { call: event.call, grant: judgement.grant };
        let known = self.questions.same(run, key).map(|open| (open.question.clone(), open.deadline));
        if known.is_none() && !self.questions.has_room() {
            return refused(Reason::Overflow, "too many questions are open".into());
        }
        let fresh = known.is_none();
        let (question, deadline) =
            known.unwrap_or_else(|| self.question(run, event, &verdict, Uuid::now_v7(), clock::now(), judgement.pattern.as_ref()));
        if let Err(line) = self.keep(&question, &waiting, deadline) {
            return refused(Reason::Unrecorded, line);
        }
        let id = question.audit_id;
        if fresh {
            self.notify(&question);
            let Judgement { pattern, commands, keeps, .. } = judgement;
            self.questions.open(Open {
                question,
                waiting: vec![waiting],
                pattern,
                commands,
                key,
                deadline,
                keeps,
                line: reading.is_own_line(),
            });
        } else {
            self.questions.join(id, waiting);
        }
        Verdict { question: Some(id.into_bytes()), ..verdict }
    }

    fn question(
        &self,
        run: Uuid,
        event: &Event,
        verdict: &Verdict,
        id: Uuid,
        created: Nanos,
        pattern: Option<&Pattern>,
    ) -> (Question, Nanos) {
        let session = self.sessions.get(&run);
        let loaders = session.map_or_else(Vec::new, |session| environment::shown(session, event));
        let patience = session.map_or(Duration::ZERO, |session| session.frozen.deadline.duration());
        let deadline = created.saturating_add(i64::try_from(patience.as_nanos()).unwrap_or(i64::MAX));
        let question = Question {
            audit_id: id,
            run,
            agent: session.map(|session| session.agent.clone()).unwrap_or_default(),
            command: String::from_utf8_lossy(&verdict.shown).into_owned(),
            argv: text::words(&verdict.argv),
            ancestry: event.ancestry.iter().rev().map(|process| text::word(&process.name)).collect(),
            cwd: text::word(&event.cwd),
            file: text::word(&event.executable.path),
            class: class_of(verdict.class),
            reasons: std::iter::once(text::word(&verdict.note)).chain(loaders).collect(),
            always_rule: pattern.map(Pattern::shown),
            origin: session.map_or(crate::config::Origin::Interactive, |session| session.frozen.origin),
            created: rfc3339(created),
            deadline: rfc3339(deadline),
            count: 1,
            abandoned: false,
            later: None,
        };
        (question, deadline)
    }

    fn keep(&mut self, question: &Question, waiting: &Waiting, deadline: Nanos) -> Result<(), String> {
        let session = self.sessions.get(&question.run).ok_or("this run is not known")?;
        let workspace = self.workspaces.get_mut(&session.folder).ok_or("the store of this run is not open")?;
        let waiting = (waiting.call, waiting.grant.as_ref());
        workspace.store.ask(&session.seal, question, waiting, deadline).map_err(|e| e.to_string())
    }

    /// A question comes back from a warden that outlived the supervisor that asked it, or lost its connection.
    pub(super) fn reopen(&mut self, run: Uuid, event: &Event, verdict: &Verdict) -> Result<(), String> {
        let session = self.sessions.get(&run).ok_or("this run is not known")?;
        let workspace = self.workspaces.get(&session.folder).ok_or("the store of this run is not open")?;
        let id = verdict.question.map(Uuid::from_bytes).ok_or("a question comes back without its id")?;
        if let Some((answer, _)) = self.unsettled.get(&(run, event.call)) {
            let answer = answer.clone();
            self.tell_kept(run, Message::Answer(answer));
            return Ok(());
        }
        let kept = workspace.store.asked(id).map_err(|e| e.to_string())?;
        let event = &belief::believed(session, event.clone(), clock::now());
        // Grant and pattern are made again from the event; the verdict stays as it was given.
        let reading = catch_unwind(AssertUnwindSafe(|| agent::read(session, event))).unwrap_or(Reading::PLAIN);
        let Terms { grant, pattern, commands } = catch_unwind(AssertUnwindSafe(|| terms(session, event))).unwrap_or_default();
        // What a rule asks about is never remembered.
        let pattern = pattern.filter(|_| verdict.reason != Reason::Rule);
        let waiting = Waiting { call: event.call, grant };
        if self.questions.get(id).is_some() {
            // Another call of the same question came back first.
            self.questions.join(id, waiting);
            return Ok(());
        }
        // Its id says when it was asked, so its deadline does not begin anew.
        let (question, deadline) = self.question(run, event, verdict, id, clock::made(id), pattern.as_ref());
        let (later, deadline) = kept.map_or((None, deadline), |(kept, deadline)| (kept.later, deadline));
        let question = Question { deadline: rfc3339(deadline), later, ..question };
        self.keep(&question, &waiting, deadline)?;
        let key = self.key(run, event, &reading);
        let (keeps, line) = (verdict.keeps, reading.is_own_line());
        self.questions.open(Open { question, waiting: vec![waiting], pattern, commands, key, deadline, keeps, line });
        // A rule may have come when nobody was there to apply it.
        self.end_blocked(id);
        Ok(())
    }

    /// Two starts with the same key are the same question. Of a line around a command only the command counts: the rest, and
    /// some variables, are numbered.
    /// A line that sources a file which a command could have written is a question of its own, each time.
    fn key(&self, run: Uuid, event: &Event, reading: &Reading) -> Key {
        let believed = |session| !facts::sources_unbelieved(session, event, reading);
        let alone = !self.sessions.get(&run).is_some_and(believed);
        let event = reading.told(event);
        let is_counter = |entry: &Vec<u8>| {
            let name = entry.split(|&byte| byte == b'=').next().unwrap_or_default();
            reading.counters.iter().any(|counter| counter.as_bytes() == name)
        };
        let environment: Vec<Vec<u8>> = event.environment.iter().filter(|entry| !is_counter(entry)).cloned().collect();
        let mut mac = self.mac.clone();
        let mut part = |bytes: &[u8]| {
            mac.update(&(bytes.len() as u64).to_le_bytes());
            mac.update(bytes);
        };
        part(&event.executable.path);
        part(&event.executable.id.to_bytes());
        part(&event.cwd);
        part(&event.root);
        part(&[event.uid.to_le_bytes(), event.euid.to_le_bytes()].concat());
        part(&event.script.as_ref().map_or([0; 32], |script| script.digest));
        part(&event.argv.to_bytes());
        part(&environment.to_bytes());
        part(&if alone { event.call.to_le_bytes().to_vec() } else { Vec::new() });
        mac.finalize().into_bytes().into()
    }
}
