//! What is allowed starts as without the gate, and what fails, fails as without it.

use anyhow::Result;
use stayexec_tests::Scene;

/// Every mode of the launcher that takes a path as it is.
const MODES: [&str; 9] = ["execve", "raw", "thread", "spawn", "execvp", "fexecve", "noargs", "null", "edge"];

/// Starts each of `paths` by each mode, gated and ungated: both print the same.
fn same(scene: &Scene, paths: &[String]) -> Result<()> {
    let launch = scene.fixture("launch")?;
    // One shell text starts them all, so that one run judges them all.
    let each = |mode: &str, path: &String| format!("echo {mode} {path}; {launch} {mode} {path} 'a  b' c; echo $?");
    let lines: Vec<String> = MODES.iter().flat_map(|mode| paths.iter().map(|path| each(mode, path))).collect();
    scene.file("all.sh", format!("{}\n", lines.join("\n")))?;
    let (gated, ungated) = (scene.full(["bash", "all.sh"])?, scene.ungated(["bash", "all.sh"])?);
    let differ: Vec<_> =
        gated.out().lines().map(str::to_owned).zip(ungated.out().lines().map(str::to_owned)).filter(|(a, b)| a != b).collect();
    assert!(gated.out() == ungated.out(), "gated, ungated: {differ:#?}\n{}", gated.told());
    assert_eq!(gated.err(), ungated.err());
    Ok(())
}

#[test]
fn what_cannot_be_started() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let work = scene.work().display().to_string();
        scene.file("plain", "no program")?;
        scene.program("empty", "")?;
        scene.program("garbage", [1, 2, 3, 0, 5])?;
        scene.program("no-interpreter", "#!/no/such/interpreter\n")?;
        scene.program("carriage-return", "#!/bin/echo\r\n")?;
        scene.program("self", format!("#!{work}/self\n"))?;
        std::os::unix::fs::symlink("loop", scene.work().join("loop"))?;
        scene.ungated(["mkfifo", "-m", "0755", "fifo"])?.expect_code(0);
        let names = ["plain", "no-interpreter", "carriage-return", "self", "loop", "missing", "plain/below"];
        let mut paths: Vec<String> = names.iter().map(|n| format!("{work}/{n}")).collect();
        paths.extend(["/tmp", "/dev/null", "/proc/self/mem", "/etc/passwd"].map(str::to_owned));
        paths.push(format!("/{}", "x".repeat(300)));
        paths.push(format!("/{}", "x/".repeat(2100)));
        same(&scene, &paths)?;
    }
    Ok(())
}

#[test]
fn interpreter_lines() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let work = scene.work().display().to_string();
        let long = "y".repeat(300);
        let lines = [
            "#!/bin/echo".to_owned(),
            "#!/bin/echo one".to_owned(),
            "#!  /bin/echo   one two  three  ".to_owned(),
            "#!/bin/echo\tone\t".to_owned(),
            format!("#!/bin/echo {long}"),
            "#!/usr/bin/env -S /bin/echo a b".to_owned(),
            "#!/usr/bin/env echo".to_owned(),
            format!("#!{work}/script-0 nested"),
            format!("#!{work}/script-7 deeper"),
            // The kernel follows four of them; the next two are too many.
            format!("#!{work}/script-8 three"),
            format!("#!{work}/script-9 four"),
            format!("#!{work}/script-10 five"),
            format!("#!{work}/script-11 six"),
            // Longer than what the kernel looks at: cut, or no interpreter.
            format!("#!/bin/echo {}", "z ".repeat(200)),
            format!("#!/{}", "bin/../".repeat(60)),
            "#!".to_owned(),
            "#! ".to_owned(),
            "#!/bin/echo\0hidden".to_owned(),
        ];
        let mut paths = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            let script = scene.program(&format!("script-{i}"), format!("{line}\nrest\n"))?;
            paths.push(script.display().to_string());
        }
        same(&scene, &paths)?;
    }
    Ok(())
}

#[test]
fn programs_of_every_linking() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let paths = ["mark", "mark-dynamic", "mark-static-pie"].map(|name| scene.fixture(name));
        let paths: Vec<String> = paths.into_iter().collect::<Result<_>>()?;
        same(&scene, &paths)?;
        same(&scene, &["/bin/echo".to_owned(), "/usr/bin/true".to_owned(), "/usr/bin/false".to_owned()])?;
    }
    Ok(())
}

#[test]
fn a_text_that_the_callers_libc_interprets() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text = scene.program("text", "/bin/echo interpreted \"$@\"\n")?;
        same(&scene, &[text.display().to_string()])?;
    }
    Ok(())
}

#[test]
fn the_environment_arrives_whole() -> Result<()> {
    for scene in Scene::of_each_user()? {
        let text =
            "export LONG=$(printf 'z%.0s' {1..100000}) ODD=$'\\xff\\n=' EMPTY=; env -0 | sort -z | sha256sum; env | grep -c STAYEXEC";
        let (gated, ungated) = (scene.full(["bash", "-c", text])?, scene.ungated(["bash", "-c", text])?);
        assert_eq!(gated.out(), ungated.out(), "{}", gated.told());
    }
    Ok(())
}

#[test]
fn limits_umask_and_signals_are_inherited() -> Result<()> {
    for scene in Scene::of_each_user()? {
        // Signals 32 and 33 are the C library's own; posix_spawn leaves them ignored or not as its caller had threads.
        let text = "ulimit -n 123; umask 027; trap '' USR1; nice -n 3 nice\n\
            bash -c 'ulimit -n; umask; while read name set; do case $name in Sig[IB]*) echo $name $((0x$set & 0x7fffffff));; esac; done </proc/self/status'";
        let (gated, ungated) = (scene.full(["bash", "-c", text])?, scene.ungated(["bash", "-c", text])?);
        assert_eq!(gated.out(), ungated.out(), "{}", gated.told());
    }
    Ok(())
}
