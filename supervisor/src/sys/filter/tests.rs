use super::*;
use crate::sys::arch::NATIVE;

/// A seccomp_data as the kernel hands it to the program.
#[derive(Clone, Copy, Default)]
struct Data {
    nr: u32,
    arch: u32,
    args: [u64; 6],
}

impl Data {
    fn word(self, offset: u32) -> u32 {
        match offset {
            0 => self.nr,
            4 => self.arch,
            16.. => {
                let (index, high) = ((offset - 16) / 8, (offset - 16) % 8 == 4);
                let value = self.args[index as usize];
                (if high { value >> 32 } else { value }) as u32
            }
            _ => panic!("the program reads the instruction pointer"),
        }
    }
}

/// Runs the program as the kernel would, and checks that every jump stays inside.
fn interpret(data: Data, privileged: bool) -> u32 {
    let program = program(privileged);
    let (mut pc, mut accumulator) = (0usize, 0u32);
    loop {
        let i = program[pc];
        pc += 1;
        match i.code {
            LOAD => accumulator = data.word(i.k),
            EQUAL => pc += usize::from(if accumulator == i.k { i.jt } else { i.jf }),
            AT_LEAST => pc += usize::from(if accumulator >= i.k { i.jt } else { i.jf }),
            ANY_BIT => pc += usize::from(if accumulator & i.k != 0 { i.jt } else { i.jf }),
            RETURN => return i.k,
            code => panic!("unexpected instruction {code:#x}"),
        }
    }
}

const NOTIFIED: u32 = libc::SECCOMP_RET_USER_NOTIF;
const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

fn call(arch: u32, nr: u32, args: [u64; 6]) -> u32 {
    let [root, user] = [true, false].map(|privileged| interpret(Data { nr, arch, args }, privileged));
    assert_eq!(root, user, "{nr}");
    user
}

#[test]
fn both_ways_to_start_a_program_are_notified_in_every_table() {
    for table in TABLES {
        assert_eq!(call(table.audit, table.execve, [u64::MAX; 6]), NOTIFIED, "{table:?}");
        for flags in [0, 0x1000, 0x100, 0x1100, 0xffff] {
            assert_eq!(call(table.audit, table.execveat, [7, 7, 7, 7, flags, 7]), NOTIFIED, "{table:?}");
        }
    }
}

#[test]
fn a_mere_check_of_a_file_passes() {
    for table in TABLES {
        assert_eq!(call(table.audit, table.execveat, [0, 0, 0, 0, 0x1_1000, 0]), ALLOWED);
        // The kernel takes `flags` as an int: a bit above it is none.
        assert_eq!(call(table.audit, table.execveat, [0, 0, 0, 0, 0x1_0000_0000_0000, 0]), NOTIFIED);
    }
}

#[test]
fn every_number_of_every_table_is_decided_as_listed() {
    for table in TABLES {
        for nr in (0..2048).chain([0x3fff_ffff]) {
            let expected = match nr {
                n if n == table.execve || n == table.execveat => NOTIFIED,
                n if table.refused.contains(&n) => REFUSED,
                n if n == table.clone3 => UNKNOWN,
                _ => ALLOWED,
            };
            assert_eq!(call(table.audit, nr, [0; 6]), expected, "{table:?} {nr}");
        }
    }
}

#[test]
fn unknown_architectures_are_killed() {
    let known: Vec<u32> = TABLES.iter().map(|t| t.audit).collect();
    for arch in [0, 1, 0x4000_0003, 0xC000_003E, 0x4000_0028, 0xC000_00B7, 0xC000_00F3, 0x8000_0016, u32::MAX] {
        let killed = call(arch, NATIVE.execve, [0; 6]) == libc::SECCOMP_RET_KILL_PROCESS;
        assert_eq!(killed, !known.contains(&arch), "{arch:#x}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn every_x32_number_is_unknown() {
    for nr in [0x4000_0000, 0x4000_0000 | 59, 0x4000_0000 | 520, 0x4000_0000 | 545, 0x4000_0000 | 322, u32::MAX] {
        assert_eq!(call(NATIVE.audit, nr, [0; 6]), UNKNOWN, "{nr:#x}");
    }
}

#[test]
fn some_requests_are_refused_whatever_the_high_word() {
    for table in TABLES {
        for high in [0u64, 1 << 32, 0xdead_beef << 32] {
            for request in [0x5412, 0x541C, 0xAA00] {
                assert_eq!(call(table.audit, table.ioctl, [0, high | request, 0, 0, 0, 0]), REFUSED);
            }
            assert_eq!(call(table.audit, table.ioctl, [0, high | 0x5401, 0, 0, 0, 0]), ALLOWED);
        }
    }
}

#[test]
fn the_tree_can_ask_whether_it_is_gated_and_types_nothing_by_it() {
    let inside = libc::SECCOMP_RET_ERRNO | INSIDE as u32;
    for table in TABLES {
        assert_eq!(call(table.audit, table.ioctl, [u64::MAX, 0x5412, ASKING.into(), 0, 0, 0]), inside);
        assert_eq!(call(table.audit, table.ioctl, [0, 0x5412, u64::from(ASKING) | 1 << 40, 0, 0, 0]), inside);
        assert_eq!(call(table.audit, table.ioctl, [0, 0x541C, ASKING.into(), 0, 0, 0]), REFUSED);
        assert_eq!(call(table.audit, table.ioctl, [0, 0x5401, ASKING.into(), 0, 0, 0]), ALLOWED);
    }
    assert!(!is_around());
}

#[test]
fn a_child_is_of_the_process_that_made_it() {
    for table in TABLES {
        let clone = |flags: u64| call(table.audit, table.clone, [flags, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000]);
        // fork, vfork, a thread of the C library, namespaces.
        for flags in [0x11, 0x4111, 0x003d_0f00, 0x0120_0011, 0x7e02_0011, 0x8000 << 32] {
            assert_eq!(clone(flags), ALLOWED, "{flags:#x}");
        }
        for flags in [0x8000, 0x8011, 0x0001_8f00, 0xffff_ffff, 0xdead_0000_8011] {
            assert_eq!(clone(flags), NOTIFIED, "{flags:#x}");
        }
        let prctl = |option: u64| call(table.audit, table.prctl, [option, 1, 0, 0, 0, 0]);
        assert_eq!([prctl(36), prctl(36 | 1 << 32)], [NOTIFIED; 2]);
        assert_eq!([prctl(4), prctl(37), prctl(38), prctl(22)], [ALLOWED; 4]);
        let number = |nr: u32| told(table.audit, nr.cast_signed());
        let starts = [table.execve, table.execveat, table.ioctl].map(number);
        assert_eq!((starts, number(table.clone), number(table.prctl)), ([Told::Start; 3], Told::Sibling, Told::Adopts));
        assert_eq!(call(table.audit, table.clone3, [0x7000, 88, 0, 0, 0, 0]), UNKNOWN);
    }
}

#[test]
fn limits_are_set_on_oneself_alone() {
    for table in TABLES {
        let limit = |pid: u64, new: u64| call(table.audit, table.prlimit64, [pid, 7, new, 0, 0, 0]);
        assert_eq!(limit(0, 0x7000), ALLOWED);
        assert_eq!(limit(99, 0), ALLOWED);
        assert_eq!(limit(99, 0x7000), REFUSED);
        assert_eq!(limit(99, 0x7000_0000_0000), REFUSED, "a pointer whose low word is zero");
    }
}

#[test]
fn nobody_looks_into_other_processes_or_answers_for_their_opens() {
    for table in TABLES {
        let perf = |pid: u64| {
            let data = Data { nr: table.perf_event_open, arch: table.audit, args: [0x7000, pid, u64::MAX, u64::MAX, 0, 0] };
            [true, false].map(|privileged| interpret(data, privileged))
        };
        assert_eq!(perf(0), [ALLOWED; 2]);
        assert_eq!(perf(7 << 32), [ALLOWED; 2], "the kernel takes a pid as an int");
        assert_eq!(perf(4_242), [REFUSED, ALLOWED]);
        assert_eq!([perf(u64::MAX), perf(u64::from(u32::MAX))], [[REFUSED; 2]; 2]);
        let notice = |flags: u64| call(table.audit, table.fanotify_init, [flags, 0, 0, 0, 0, 0]);
        for flags in [0, 0x1, 0x3, 0x10, 0x200, 0xe01] {
            assert_eq!(notice(flags), ALLOWED, "{flags:#x}");
        }
        for flags in [0x4, 0x8, 0x5, 0xc, 0x20f] {
            assert_eq!(notice(flags), REFUSED, "{flags:#x}");
        }
    }
    #[cfg(target_arch = "x86_64")]
    assert_eq!(
        [NATIVE.perf_event_open, NATIVE.fanotify_init, NATIVE.clone, NATIVE.prctl].map(i64::from),
        [libc::SYS_perf_event_open, libc::SYS_fanotify_init, libc::SYS_clone, libc::SYS_prctl]
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn what_is_refused_is_what_the_kernel_calls_so() {
    let names = [
        libc::SYS_process_vm_writev,
        libc::SYS_adjtimex,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_clock_adjtime,
        libc::SYS_userfaultfd,
        libc::SYS_bpf,
    ];
    assert_eq!(NATIVE.refused.iter().map(|&nr| i64::from(nr)).collect::<Vec<_>>(), names);
}
