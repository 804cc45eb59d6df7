//! How a refused image ends: status 126, one line, at once, whatever its standard error is.

use anyhow::Result;
use stayexec_tests::Scene;

/// Has a refused program started with a standard error that takes nothing, as each user.
fn deaf(kind: &str) -> Result<()> {
    for scene in Scene::of_each_user()? {
        let made = scene.mark("made");
        let (deaf, mark) = (scene.fixture("deaf")?, scene.fixture("mark")?);
        for program in ["/usr/bin/touch", mark.as_str()] {
            let outcome = scene.readonly([deaf.as_str(), kind, program, made.text()])?;
            outcome.expect_code(0).expect_line("status 126").expect_quiet();
            made.expect_none();
            let micros = outcome.number("micros");
            println!("{kind}: {micros} us from fork to the end of the refused {program}");
            assert!(micros < 1_000_000, "{kind}: {micros} us; aimed at: 100,000");
        }
        scene.full([deaf.as_str(), kind, &mark, made.text()])?.expect_line("status 0");
        made.expect_made();
    }
    Ok(())
}

#[test]
fn a_closed_standard_error_delays_nothing() -> Result<()> {
    deaf("closed")
}

#[test]
fn a_full_pipe_delays_nothing() -> Result<()> {
    deaf("pipe")
}

#[test]
fn a_full_socket_delays_nothing() -> Result<()> {
    deaf("socket")
}

#[test]
fn a_full_terminal_delays_nothing() -> Result<()> {
    deaf("terminal")
}

#[test]
fn the_line_goes_to_the_images_own_standard_error() -> Result<()> {
    let scene = Scene::new()?;
    let _victim = scene.victim("victim")?;
    let outcome = scene.readonly(["bash", "-c", "said=$(rm -rf victim 2>&1); echo $? \"$said\""])?;
    assert!(outcome.out().starts_with("126 stayexec: denied (destructive): rm -rf victim"), "{}", outcome.told());
    outcome.expect_quiet();
    Ok(())
}

#[test]
fn the_line_stays_one_line() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.readonly(["bash", "-c", "touch $'a\\nb\\033[31m\\u202e' 'two words'; echo status $?"])?;
    outcome.expect_line("status 126");
    let err = outcome.err();
    assert_eq!(err.lines().count(), 1, "{}", outcome.told());
    assert!(!err.contains('\x1b') && !err.contains('\u{202e}'), "{}", outcome.told());
    Ok(())
}

#[test]
fn a_long_command_line_is_folded() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.readonly(["bash", "-c", "touch $(printf 'name-%s ' {1..20000}); echo status $?"])?;
    outcome.expect_line("status 126");
    assert!(outcome.stderr.len() < 4096, "{} bytes of denial", outcome.stderr.len());
    assert_eq!(outcome.denials().len(), 1, "{}", outcome.told());
    Ok(())
}

#[test]
fn each_refused_program_has_its_line() -> Result<()> {
    let scene = Scene::new()?;
    let outcome = scene.readonly(["bash", "-c", "for i in {1..50}; do touch made-$i; done; ls"])?;
    let expected: Vec<String> = (1..=50).map(|i| format!("touch made-{i}")).collect();
    let denials = outcome.denials();
    assert_eq!(denials.len(), 50, "{}", outcome.told());
    assert!(denials.iter().zip(&expected).all(|(line, command)| line.contains(command.as_str())), "{}", outcome.told());
    assert_eq!(outcome.out(), "");
    Ok(())
}

#[test]
fn the_parent_of_a_refused_image_sees_an_ordinary_end() -> Result<()> {
    let scene = Scene::new()?;
    let text = "const {spawnSync} = require('child_process'); const r = spawnSync('touch', ['made']);\n\
        console.log(r.status, r.signal, r.error === undefined, r.stderr.toString().startsWith('stayexec: denied (write): touch made'))";
    scene.readonly(["node", "-e", text])?.expect_code(0).expect_line("126 null true true").expect_quiet();
    Ok(())
}
