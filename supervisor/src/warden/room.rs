//! The folder of one run, for what its tree has to find by a path: the shim's library and its socket.
//!
//! Invariant: it is there as long as the run, or anything that the run left behind, and goes with it; what a warden that
//! was killed has left is removed by the next. Refuses a folder that somebody else has made.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another run may take to make its folder.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The folder; removed when dropped.
#[derive(Debug)]
pub struct Room {
    path: PathBuf,
    /// Locked by this run, and by nobody after it.
    _held: Flock<File>,
}

impl Room {
    /// Makes the folder of `run` below `parent`, which others than this user may pass through where `shared`.
    ///
    /// # Errors
    /// Whatever mkdir(2), open(2) and flock(2) say.
    pub fn make(parent: &Path, run: [u8; 16], shared: bool) -> io::Result<Self> {
        let mode = if shared { 0o711 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(parent)?;
        if shared {
            // Whatever the umask says; it must be ours, and nobody else's to write in.
            let own = fs::symlink_metadata(parent)?;
            if !own.is_dir() || own.uid() != nix::unistd::geteuid().as_raw() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            fs::set_permissions(parent, fs::Permissions::from_mode(mode))?;
        }
        // Held while folders come and go: one that has just been made is not yet anybody's.
        let _door = door(parent)?;
        sweep(parent);
        let path = parent.join(uuid::Uuid::from_bytes(run).simple().to_string());
        DirBuilder::new().mode(mode).create(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        let held = lock(&path, FlockArg::LockExclusiveNonblock)?;
        Ok(Self { path, _held: held })
    }

    /// The path of something in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next run.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn lock(path: &Path, how: FlockArg) -> io::Result<Flock<File>> {
    Flock::lock(File::open(path)?, how).map_err(|(_, errno)| errno.into())
}

/// The lock under which folders come and go. Whoever runs as the same user can keep it: nobody waits for that without end.
fn door(parent: &Path) -> io::Result<Flock<File>> {
    let until = Instant::now() + PATIENCE;
    loop {
        match lock(parent, FlockArg::LockExclusiveNonblock) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock && Instant::now() < until => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

/// Removes the folders that no run holds.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && lock(&path, FlockArg::LockExclusiveNonblock).is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_goes_with_its_run_and_one_that_was_left_with_the_next() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let left = dir.path().join("left");
        fs::create_dir(&left)?;
        let room = Room::make(dir.path(), [7; 16], false)?;
        fs::write(room.path("x"), "")?;
        let other = Room::make(dir.path(), [8; 16], false)?;
        assert!(!left.exists() && room.path("x").exists());
        let path = other.path("");
        let kept = door(dir.path())?;
        assert!(Room::make(dir.path(), [9; 16], false).is_err(), "somebody keeps the lock");
        drop((kept, other));
        assert!(!path.exists() && room.path("x").exists());
        Ok(())
    }
}
