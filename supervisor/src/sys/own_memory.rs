//! This process's own memory: what it has no use for any more goes back to the kernel.
//!
//! Invariant: nothing that was written is lost. Refuses nothing: where the kernel does not take it, it stays.

use std::fs;

/// Gives what was freed on the heap back to the kernel (malloc_trim(3)).
pub fn trim_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: touches only the allocator's own state, under its own lock.
    let _ = unsafe { libc::malloc_trim(0) };
}

/// Lets go of the pages of programs and libraries that were mapped on the way here (madvise(2), MADV_DONTNEED): those that
/// run again are mapped again from the page cache.
pub fn let_go_of_code() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (from, length) in maps.lines().filter_map(code) {
        // SAFETY: a private mapping of a file that was never writable holds nothing but what the file holds.
        let _ = unsafe { libc::madvise(from as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Address and length of a mapping of code from a file (proc_pid_maps(5)); data are writable, or were until they were
/// relocated.
fn code(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, permissions, file) = (fields.next()?, fields.next()?, fields.nth(3)?);
    let (from, to) = range.split_once('-')?;
    let (from, to) = (usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?);
    (permissions == "r-xp" && file.starts_with('/')).then(|| (from, to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_let_go_and_the_rest_goes_on() {
        let line = |permissions: &str, file: &str| format!("55e65cab3000-55e65d193000 {permissions} 001be000 fe:00 5334858   {file}");
        assert_eq!(code(&line("r-xp", "/usr/bin/stayexec")), Some((0x55e6_5cab_3000, 0x6e_0000)));
        for line in [line("r--p", "/usr/bin/stayexec"), line("rw-p", "/usr/bin/stayexec"), line("rwxp", "/x"), line("r-xp", "[vdso]")] {
            assert_eq!(code(&line), None, "{line}");
        }
        assert_eq!(code("7ffc-7ffd r-xp 0 00:00 0"), None);
        let kept = vec![7; 1 << 16];
        let_go_of_code();
        trim_heap();
        assert!(kept.iter().all(|&byte| byte == 7));
    }
}
