//! What is written comes back, and what is not a message is an error, for many seeded cases.

use super::*;
use alloc::vec::Vec;

/// A small generator (xorshift): seeded, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn bytes(&mut self, below: u64) -> Vec<u8> {
        (0..self.roll(below)).map(|_| self.roll(256) as u8).collect()
    }

    fn list(&mut self) -> Vec<Vec<u8>> {
        (0..self.roll(7)).map(|_| self.bytes(40)).collect()
    }

    fn ask(&mut self) -> OwnedAsk {
        let (argv, environment) = (self.list(), self.list());
        let head = Head {
            entry: Entry::ALL[self.roll(13) as usize],
            flags: self.roll(u64::from(flag::ALL) + 1) as u32,
            descriptor: self.roll(1 << 32) as u32 as i32,
            site: self.roll(u64::MAX),
            arguments: argv.len() as u32,
            variables: environment.len() as u32,
        };
        OwnedAsk { head, target: self.bytes(60), search: self.bytes(60), argv, environment }
    }
}

fn frame(ask: &OwnedAsk) -> Vec<u8> {
    let mut pieces = Vec::new();
    for piece in [&ask.target, &ask.search].into_iter().chain(&ask.argv).chain(&ask.environment) {
        pieces.extend((piece.len() as u32).to_le_bytes());
        pieces.extend(piece);
    }
    [&ask.head.to_bytes(pieces.len()).unwrap()[..], &pieces].concat()
}

fn read(frame: &[u8]) -> Result<Voice<'_>, AskError> {
    let (prefix, body) = frame.split_first_chunk().ok_or(AskError::Short)?;
    assert_eq!(length(*prefix), Ok(body.len()));
    Voice::read(body)
}

#[test]
fn an_ask_comes_back() {
    let mut dice = Dice(0x5eed);
    for _ in 0..2000 {
        let ask = dice.ask();
        let frame = frame(&ask);
        let Ok(Voice::Ask(read)) = read(&frame) else { panic!("{ask:?}") };
        assert_eq!(OwnedAsk::from(read), ask);
    }
}

#[test]
fn every_prefix_and_every_extension_is_an_error() {
    let mut dice = Dice(7);
    for _ in 0..200 {
        let mut body = frame(&dice.ask()).split_off(4);
        for n in 0..body.len() {
            assert_eq!(Voice::read(&body[..n]), Err(AskError::Short));
        }
        body.push(0);
        assert_eq!(Voice::read(&body), Err(AskError::Trailing));
    }
}

#[test]
fn flipped_bits_never_panic_and_keep_the_counts() {
    let mut dice = Dice(99);
    for _ in 0..5000 {
        let mut body = frame(&dice.ask()).split_off(4);
        for _ in 0..=dice.roll(4) {
            let at = dice.roll(body.len() as u64) as usize;
            body[at] ^= 1 << dice.roll(8);
        }
        if let Ok(Voice::Ask(ask)) = Voice::read(&body) {
            assert_eq!(ask.argv.count() as u32, ask.head.arguments);
            assert_eq!(ask.environment.count() as u32, ask.head.variables);
        }
    }
}

#[test]
fn noise_never_panics() {
    let mut dice = Dice(3);
    for _ in 0..20_000 {
        let noise = dice.bytes(80);
        let _ = Voice::read(&noise);
        let _ = Reply::read(&noise);
    }
}

#[test]
fn a_hello_comes_back() {
    for form in [Form::Beside, Form::Alone] {
        for hooks in [0, 1, 0b1_1111_1111_1111] {
            let hello = Hello { form, hooks };
            assert_eq!(read(&hello.to_frame()), Ok(Voice::Hello(hello)));
            assert_eq!(hello.has(Entry::Execve), hooks & 1 == 1);
        }
    }
    assert_eq!(Voice::read(&Hello { form: Form::Alone, hooks: 1 << 13 }.to_frame()[4..]), Err(AskError::Unknown));
}

#[test]
fn another_version_is_told_apart_before_anything_else() {
    let mut body = frame(&Dice(5).ask()).split_off(4);
    body[1] = 9;
    body.truncate(3);
    assert_eq!(Voice::read(&body), Err(AskError::Version(9)));
}

#[test]
fn a_reply_comes_back_and_only_go_on_lets_go() {
    assert_eq!(Reply::read(&Reply::GoOn.to_frame()), Ok(Reply::GoOn));
    let long = [b'x'; 5000];
    let frame = Reply::Refused(&long).to_frame();
    assert!(frame.len() <= REPLY_MAX);
    assert_eq!(Reply::read(&frame), Ok(Reply::Refused(&long[..REPLY_LINE])));
    for n in 0..frame.len() {
        assert_eq!(Reply::read(&frame[..n]), Err(AskError::Short));
    }
    let go = Reply::GoOn.to_frame();
    for at in 0..go.len() {
        for bit in 0..8 {
            let mut other = go.clone();
            other[at] ^= 1 << bit;
            assert_ne!(Reply::read(&other), Ok(Reply::GoOn));
        }
    }
}

#[test]
fn a_frame_over_the_limit_is_not_begun() {
    let head = Dice(1).ask().head;
    assert!(head.to_bytes(ASK_LIMIT - HEAD_LENGTH + 4).is_some());
    assert_eq!(head.to_bytes(ASK_LIMIT), None);
    assert_eq!(head.to_bytes(usize::MAX), None);
    assert_eq!(length((ASK_LIMIT as u32 + 1).to_le_bytes()), Err(AskError::TooLong));
}

#[test]
fn entries_have_their_number_and_name() {
    for (number, entry) in Entry::ALL.into_iter().enumerate() {
        assert_eq!(Entry::from_number(number as u8), Some(entry));
        assert_eq!(entry as usize, number);
        assert!(!(entry.searches() && entry.takes_line()));
    }
    assert_eq!(Entry::from_number(13), None);
}
