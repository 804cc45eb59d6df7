//! Counts the steps of parser and judge, in tests only: what must grow with the length of a text and with nothing else.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// So many bytes, words or entries are looked at or copied.
#[inline(always)]
pub(crate) fn step(count: usize) {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + count as u64));
    #[cfg(not(test))]
    let _ = count;
}

/// The steps since the last call, in this thread.
#[cfg(test)]
pub(crate) fn take() -> u64 {
    STEPS.with(|steps| steps.replace(0))
}
