//! The second floor: what a confined tree writes lies where the run says, whoever writes it.

use anyhow::Result;
use stayexec_tests::Scene;

/// Writes that start no program: a redirection, a descriptor, an interpreter.
const WRITES: [&str; 4] = [": > made", "exec 3>>made", "echo x 2>/dev/null >made", "printf x >| made"];

#[test]
fn a_readonly_tree_writes_nothing_in_its_workspace() -> Result<()> {
    for scene in Scene::of_each_user()? {
        for write in WRITES {
            let text = format!("{{ {write}; }} 2>/dev/null; test -e made && echo written; echo over");
            let outcome = scene.run().tier("readonly").origin("unattended").command(["bash", "-c", &text]).finish()?;
            assert_eq!(outcome.out(), "over\n", "{write}: {}", outcome.told());
            // The same text without the second floor does write: the test is not empty.
            let free = scene.run().tier("readonly").origin("unattended").unconfined().command(["bash", "-c", &text]).finish()?;
            assert_eq!(free.out(), "written\nover\n", "{write}: {}", free.told());
            std::fs::remove_file(scene.work().join("made"))?;
        }
    }
    Ok(())
}

#[test]
fn an_interpreter_that_was_launched_removes_nothing() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("kept", "x")?;
        let text = "import os\ntry:\n os.remove('kept')\nexcept PermissionError:\n print('refused')";
        let outcome = scene.run().tier("readonly").origin("unattended").command(["/usr/bin/python3", "-c", text]).finish()?;
        assert_eq!(outcome.out(), "refused\n", "{}", outcome.told());
        assert!(scene.work().join("kept").exists());
    }
    Ok(())
}

#[test]
fn the_temporary_folder_is_the_runs_own_and_goes_with_it() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text = "echo x >$TMPDIR/a && cat $TMPDIR/a; echo $TMPDIR; : >/dev/null && echo null";
        let outcome = scene.run().tier("readonly").origin("unattended").command(["bash", "-c", text]).finish()?;
        let out = outcome.out();
        let lines: Vec<&str> = out.lines().collect();
        let [said, folder, null] = lines[..] else { panic!("{}", outcome.told()) };
        assert_eq!((said, null), ("x", "null"));
        assert!(!std::path::Path::new(folder).exists(), "{folder} was left behind");
    }
    Ok(())
}

#[test]
fn a_confined_tree_of_another_tier_writes_below_its_workspace_alone() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let outside = scene.path("home").join("outside");
        let more = scene.path("home").join("more");
        let text = format!(
            "echo x >inside && echo inside; echo x >{outside} || echo refused; echo x >{more}/a && echo more",
            outside = outside.display(),
            more = more.display()
        );
        // The folder belongs to the run's user.
        scene.ungated(["mkdir", &more.display().to_string()])?.expect_code(0);
        let more = more.display().to_string();
        let run = scene.run().tier("full").origin("unattended").words(["--confine", "--writable", &more]);
        let outcome = run.command(["bash", "-c", &text]).finish()?;
        assert_eq!(outcome.out(), "inside\nrefused\nmore\n", "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn what_cannot_be_confined_as_asked_is_said() -> Result<()> {
    let scene = Scene::new()?;
    let none = scene.path("none").display().to_string();
    for (words, said) in [
        (&["--tier", "readonly", "--writable", "/"][..], "the readonly tier never writes there"),
        (&["--writable", &none], "there is no such folder"),
        (&["--confine=off", "--writable", "/tmp"], "leave out --confine=off"),
    ] {
        let outcome = scene.run().words(words.iter().copied()).command(["true"]).finish()?;
        outcome.expect_code(2);
        assert_eq!(outcome.err().lines().count(), 1, "{}", outcome.told());
        assert!(outcome.err().contains(said), "{}", outcome.told());
    }
    Ok(())
}

#[test]
fn an_agents_own_folders_stay_writable_and_others_do_not() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text = "#!/bin/sh\n{ echo x >~/.claude/a; } 2>/dev/null && echo own\n{ echo x >~/b; } 2>/dev/null || echo refused\n\
            { echo x >$TMPDIR/c; } && echo temporary\n{ echo x >made; } 2>/dev/null || echo workspace\n";
        scene.program("claude", text)?;
        let run = scene.run().tier("readonly").origin("unattended");
        let outcome = run.command([scene.work().join("claude")]).finish()?;
        assert_eq!(outcome.out(), "own\nrefused\ntemporary\nworkspace\n", "{}", outcome.told());
        assert!(scene.path("home/.claude/a").exists() && !scene.path("home/b").exists());
    }
    Ok(())
}

/// What a confined tree tries by system calls of an interpreter, and the error that each ends with.
const CALLS: &str = "import os\n\
    def tried(name, deed):\n    \
        try:\n        deed()\n        print(name, 'WRITTEN')\n    \
        except OSError as e: print(name, e.errno in (1, 13, 18))\n\
    tried('unlink', lambda: os.unlink('kept'))\n\
    tried('rename', lambda: os.rename('kept', 'moved'))\n\
    tried('rename-out', lambda: os.rename('kept', os.environ['TMPDIR'] + '/moved'))\n\
    tried('link', lambda: os.link('kept', 'linked'))\n\
    tried('symlink', lambda: os.symlink('kept', 'linked'))\n\
    tried('mkdir', lambda: os.mkdir('folder'))\n\
    tried('mkfifo', lambda: os.mkfifo('fifo'))\n\
    tried('truncate', lambda: os.truncate('kept', 0))\n\
    tried('open', lambda: open('kept', 'r+'))\n\
    tried('root', lambda: open('/proc/self/root' + os.getcwd() + '/kept', 'r+'))\n";

#[test]
fn no_system_call_changes_a_confined_workspace() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.file("kept", "x")?;
        let outcome = scene.run().tier("readonly").origin("unattended").command(["/usr/bin/python3", "-c", CALLS]).finish()?;
        let names = ["unlink", "rename", "rename-out", "link", "symlink", "mkdir", "mkfifo", "truncate", "open", "root"];
        assert_eq!(outcome.out(), names.map(|name| format!("{name} True\n")).concat(), "{}", outcome.told());
        assert_eq!(std::fs::read_to_string(scene.work().join("kept"))?, "x");
    }
    Ok(())
}

#[test]
fn the_fence_stays_in_every_namespace_that_the_tree_makes() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // The launched program makes the namespace itself; what it starts there is judged as ever.
        let text = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.unshare(0x10000000 | 0x20000)\n\
            mounted = libc.mount(b'/usr', os.getcwd().encode(), None, 4096, None) == 0\n\
            try:\n open('made', 'w')\n print('WRITTEN')\nexcept OSError: print('refused', mounted)\n";
        let outcome = scene.run().tier("readonly").origin("unattended").command(["/usr/bin/python3", "-c", text]).finish()?;
        assert_eq!(outcome.out(), "refused False\n", "{}", outcome.told());
    }
    Ok(())
}
