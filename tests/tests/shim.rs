//! The shim in the agent's own process: the raw call is recorded, and nothing else is different for it.

use anyhow::{Context, Result};
use stayexec_tests::{Entry, Scene};

/// The rows of starts whose call was told.
fn told(scene: &Scene) -> Result<Vec<(String, String, String, Entry)>> {
    let text = |entry: &Entry, name: &str| entry.row["asked"][name].as_str().unwrap_or_default().to_owned();
    let rows = scene.history()?.into_iter().filter(|entry| entry.row["asked"].is_object());
    Ok(rows.map(|entry| (text(&entry, "function"), text(&entry, "target"), text(&entry, "site"), entry)).collect())
}

#[test]
fn the_raw_call_is_recorded_with_what_became_of_it() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text = "import os, subprocess\n\
            os.system('ls -d / ; GITHUB_TOKEN=ghp_0123456789abcdef0123456789abcdef0123 cat /dev/null')\n\
            subprocess.call(['ls', '-d', '/'])\n\
            os.waitpid(os.posix_spawn('/bin/ls', ['ls', '-d', '.'], os.environ), 0)\n\
            os.popen('ls -d /etc').read()\n";
        scene.file("agent.py", text)?;
        scene.full(["/usr/bin/python3", "agent.py"])?.expect_code(0).expect_quiet();
        let told = told(&scene)?;
        let find = |function: &str, target: &str| {
            let found = told.iter().find(|(f, t, _, _)| f == function && t.contains(target));
            found.with_context(|| format!("{function} {target}: {told:#?}"))
        };
        let (_, target, site, entry) = find("system", "ls -d / ; ")?;
        assert!(!target.contains("ghp_0123"), "a secret is stored: {target}");
        assert!(site.contains("python3") && site.contains("+0x"), "{site}");
        assert_eq!(entry.argv.first().map(String::as_str), Some("sh"));
        assert_eq!(find("posix_spawn", "/bin/ls")?.3.argv, ["ls", "-d", "."]);
        assert!(told.iter().any(|(function, _, _, entry)| function.starts_with("exec") && entry.argv == ["ls", "-d", "/"]), "{told:#?}");
        // What a child of the agent starts is not told of: the shim is in the agent's own process.
        assert!(told.iter().all(|(.., entry)| entry.argv.first().map(String::as_str) != Some("cat")));
        assert!(std::fs::read_dir(scene.path("run/stayexec/runs"))?.next().is_none(), "the run's folder goes with it");
    }
    Ok(())
}

#[test]
fn neither_the_agent_nor_its_children_see_it() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let preload = scene.fixture("loaded.so")?;
        scene.file("agent.py", "import os, subprocess\nprint(sorted(os.environ.items()), flush=True)\nsubprocess.call(['env'])\n")?;
        scene.program("script", "#!/usr/bin/env python3\nexec(open('agent.py').read())\n")?;
        for command in [&["/usr/bin/python3", "agent.py"][..], &["./script"], &["bash", "-c", "exec python3 agent.py"]] {
            for user in [None, Some(&preload)] {
                let run = |launch: stayexec_tests::Launch<'_>| match user {
                    Some(library) => launch.env("LD_PRELOAD", library).command(command).finish(),
                    None => launch.command(command).finish(),
                };
                let gated = run(scene.run().tier("full").origin("unattended").unconfined())?;
                let bare = run(scene.run().tier("full").origin("unattended").unconfined().words(["--no-shim"]))?;
                gated.expect_code(0);
                assert!(!gated.out().contains("STAYEXEC_SHIM") && !gated.out().contains("STAYEXEC_ASK"), "{}", gated.told());
                // In whatever order: a call that replaces the process puts the shim's entries behind the others.
                let lines = |outcome: &stayexec_tests::Outcome| {
                    let out = outcome.out();
                    let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
                    lines.sort();
                    lines
                };
                assert_eq!(lines(&gated), lines(&bare));
                assert_eq!(gated.out().contains("LD_PRELOAD"), user.is_some());
            }
        }
    }
    Ok(())
}

#[test]
fn it_counts_as_no_change_of_the_environment() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // In the readonly tier a variable that loads code refuses the start that has it.
        for text in ["exec ls -d /", "ls -d /; exec env ls -d /"] {
            scene.readonly(["bash", "-c", text])?.expect_code(0).expect_line("/");
        }
        scene.program("script", "#!/usr/bin/env bash\nls -d /\n")?;
        scene.readonly(["./script"])?.expect_code(0).expect_line("/");
        // A library of its name that is another's is a change.
        let text = "ask=$(tr '\\0' '\\n' </proc/$$/environ | sed -n 's/^STAYEXEC_ASK=//p')\n\
            LD_PRELOAD=${ask%/*}/libstayexec_preload.so ls -d /; echo status $?";
        scene.readonly(["bash", "-c", text])?.expect_line("status 126");
    }
    Ok(())
}

#[test]
fn programs_that_cannot_load_it_start_as_ever() -> Result<()> {
    for scene in Scene::of_each_user()? {
        scene.fixture("launch-static")?;
        let outcome = scene.full(["./launch-static", "fork", "/usr/bin/env"])?;
        outcome.expect_code(0).expect_quiet();
        assert!(!outcome.out().contains("LD_PRELOAD") && !outcome.out().contains("STAYEXEC_"), "{}", outcome.told());
        assert!(told(&scene)?.is_empty());
    }
    Ok(())
}

#[test]
fn a_flood_of_asks_costs_the_run_nothing() -> Result<()> {
    let scene = Scene::new()?;
    let text = "import os, socket, subprocess, time\n\
        env = dict(e.split('=', 1) for e in open('/proc/self/environ').read().split('\\0') if '=' in e)\n\
        path = env['STAYEXEC_ASK']\n\
        kept = []\n\
        for n in range(3000):\n    \
            s = socket.socket(socket.AF_UNIX); s.setblocking(False)\n    \
            try:\n        s.connect(path); s.send(b'\\xff' * (n % 7 + 1))\n    \
            except OSError as e:\n        kept.append(e.errno); s.close(); continue\n    \
            if len(kept) < 200: kept.append(s)\n\
        assert subprocess.call(['ls', '-d', '/']) == 0\n\
        begun = time.time()\n\
        for n in range(20): assert subprocess.call(['/bin/true']) == 0\n\
        print('over', time.time() - begun < 10)\n";
    scene.file("agent.py", text)?;
    scene.full(["/usr/bin/python3", "agent.py"])?.expect_code(0).expect_line("over True");
    Ok(())
}

/// Go's runtime reads the kernel's vectors by itself, before any of its code: it has to find them.
#[test]
fn what_lies_behind_the_environment_is_still_found() -> Result<()> {
    let scene = Scene::new()?;
    let auxv = scene.fixture("auxv")?;
    let own = scene.fixture("loaded.so")?;
    for command in [&[auxv.as_str()][..], &["bash", "-c", "exec \"$0\"", &auxv], &["bash", "-c", "\"$0\"; :", &auxv]] {
        let gated = || scene.run().tier("full").origin("background").unconfined();
        for launch in [gated(), gated().env("LD_PRELOAD", &own)] {
            let outcome = launch.command(command).finish()?;
            outcome.expect_code(0);
            assert!(outcome.out().starts_with("page ") && outcome.out().trim_end().ends_with("empty 0"), "{}", outcome.told());
        }
    }
    Ok(())
}
