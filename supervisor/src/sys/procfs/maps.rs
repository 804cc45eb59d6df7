//! What is mapped into a process: its regions, and the pages that are its own.
//!
//! Invariant: a page counts as a file's only where the kernel says so. Refuses to guess: a line that is not understood is an
//! error.

use super::{INSIDE, ProcessDir, read_whole};
use crate::sys::{checked, path};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Size of a page, in bytes, on the kernels that this runs on.
pub const PAGE: u64 = 4096;

/// The region of a process's memory around an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Device as st_dev.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
    /// Path, as the kernel prints it.
    pub path: Vec<u8>,
    /// Its first address.
    pub start: u64,
    /// Where in the file it begins.
    pub offset: u64,
}

impl ProcessDir {
    /// Addresses of the process's pages that are no file's: its stack and data, and every page of code that somebody has
    /// written (`pagemap`, Documentation/admin-guide/mm/pagemap.rst).
    ///
    /// # Errors
    /// ENOENT, ESRCH, EACCES; InvalidData where the text is not understood.
    pub fn own_pages(&self) -> io::Result<Vec<u64>> {
        const FILE: u64 = 1 << 61;
        const SWAPPED_OR_PRESENT: u64 = 3 << 62;
        let pagemap = std::fs::File::from(path::open_file(self.0.as_fd(), b"pagemap", INSIDE)?);
        let maps = self.text("maps")?;
        let mut pages = Vec::new();
        for line in maps.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            let (from, to) = parse_range(line).ok_or(io::ErrorKind::InvalidData)?;
            // The kernel's own data page can be read by the process alone, and written by nobody; the fixed page of old
            // system calls lies beyond what pagemap covers.
            if line.windows(5).any(|name| name == b"[vvar") || from > i64::MAX as u64 {
                continue;
            }
            let mut entries = vec![0; ((to - from) / PAGE) as usize * 8];
            std::os::unix::fs::FileExt::read_exact_at(&pagemap, &mut entries, from / PAGE * 8)?;
            for (index, entry) in entries.as_chunks::<8>().0.iter().enumerate() {
                let entry = u64::from_le_bytes(*entry);
                if entry & SWAPPED_OR_PRESENT != 0 && entry & FILE == 0 {
                    pages.push(from + index as u64 * PAGE);
                }
            }
        }
        Ok(pages)
    }

    /// The mapped region around `address`; `None` where nothing is mapped there.
    ///
    /// # Errors
    /// ENOENT, ESRCH, EACCES.
    pub fn region(&self, address: u64) -> io::Result<Option<Region>> {
        let maps = path::open_file(self.0.as_fd(), b"maps", INSIDE)?;
        match query_region(&maps, address) {
            Err(e) if e.raw_os_error() == Some(libc::ENOTTY) => {
                Ok(read_whole(&maps)?.split(|&b| b == b'\n').find_map(|line| parse_region(line, address)))
            }
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            other => other.map(Some),
        }
    }
}

/// Asks an open `maps` for one region (PROCMAP_QUERY, 6.11).
fn query_region(maps: &OwnedFd, address: u64) -> io::Result<Region> {
    /// struct procmap_query (linux/fs.h).
    #[repr(C)]
    #[derive(Default)]
    struct Query {
        size: u64,
        query_flags: u64,
        query_addr: u64,
        vma_start: u64,
        vma_end: u64,
        vma_flags: u64,
        vma_page_size: u64,
        vma_offset: u64,
        inode: u64,
        dev_major: u32,
        dev_minor: u32,
        vma_name_size: u32,
        build_id_size: u32,
        vma_name_addr: u64,
        build_id_addr: u64,
    }
    const PROCMAP_QUERY: u64 = 0xC000_0000 | (size_of::<Query>() as u64) << 16 | (b'f' as u64) << 8 | 17;
    let mut name = [0u8; libc::PATH_MAX as usize];
    let mut query = Query {
        size: size_of::<Query>() as u64,
        query_addr: address,
        vma_name_size: name.len() as u32,
        vma_name_addr: name.as_mut_ptr() as u64,
        ..Query::default()
    };
    // SAFETY: the request's number and `size` carry the structure's size; the name buffer is passed with its length.
    checked(unsafe { libc::ioctl(maps.as_raw_fd(), PROCMAP_QUERY as _, &raw mut query) }.into())?;
    let length = (query.vma_name_size as usize).saturating_sub(1);
    let path = name.get(..length).unwrap_or_default().to_vec();
    Ok(Region {
        dev: libc::makedev(query.dev_major, query.dev_minor),
        ino: query.inode,
        path,
        start: query.vma_start,
        offset: query.vma_offset,
    })
}

fn parse_range(line: &[u8]) -> Option<(u64, u64)> {
    let range = std::str::from_utf8(line.split(|&b| b == b' ').next()?).ok()?;
    let (from, to) = range.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}

fn parse_region(line: &[u8], address: u64) -> Option<Region> {
    let (from, to) = parse_range(line)?;
    if !(from..to).contains(&address) {
        return None;
    }
    let mut fields = line.splitn(6, |&b| b == b' ');
    let offset = u64::from_str_radix(std::str::from_utf8(fields.nth(2)?).ok()?, 16).ok()?;
    let device = std::str::from_utf8(fields.next()?).ok()?;
    let (major, minor) = device.split_once(':')?;
    let dev = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    let ino = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let path = fields.next().unwrap_or_default().trim_ascii_start().to_vec();
    Some(Region { dev, ino, path, start: from, offset })
}

#[cfg(test)]
mod tests {
    use super::super::Procfs;
    use super::*;

    #[test]
    fn a_region_is_found_by_any_address_in_it() {
        let line = b"7f00-7f80 r-xp 00001000 fe:01 1234                       /usr/lib/ld linux.so";
        let Some(region) = parse_region(line, 0x7f7f) else { panic!("not found") };
        assert_eq!((region.ino, region.path.as_slice()), (1234, b"/usr/lib/ld linux.so".as_slice()));
        assert_eq!((region.start, region.offset), (0x7f00, 0x1000));
        assert_eq!(parse_region(line, 0x7f80), None);
    }

    static MAPPED: &str = "mapped from the executable";

    #[test]
    fn our_own_constants_are_in_our_own_file() -> io::Result<()> {
        let dir = Procfs::open()?.process(std::process::id() as i32)?;
        let exe = dir.follow_status("exe")?;
        assert_eq!(dir.region(MAPPED.as_ptr() as u64)?.map(|r| r.ino), Some(exe.id.ino));
        Ok(())
    }
}
