//! Many different questions open at once: other programs run as ever, and each answer reaches its call.

use anyhow::{Context, Result};
use stayexec_tests::{Scene, resident_kib, rounds, until};
use std::time::{Duration, Instant};

#[test]
fn thousands_of_open_questions_disturb_nobody() -> Result<()> {
    let scene = Scene::new()?;
    let count = rounds(200, 2000) as usize;
    let text = format!("for i in {{1..{count}}}; do touch made-$i & done; echo started; wait; ls | grep -c ^made-");
    let running = scene.run().tier("supervised").unconfined().limit(600).command(["bash", "-c", &text]).start()?;
    running.says("started")?;
    let mut questions = Vec::new();
    until("all questions", Duration::from_secs(300), || {
        questions = scene.pending().ok()?;
        (questions.len() == count).then_some(())
    })
    .with_context(|| format!("{} open", questions.len()))?;
    let warden = scene.warden()?.pid;
    println!("{count} held: warden {} KiB, supervisor {} KiB", resident_kib(warden), resident_kib(scene.supervisor()?.pid));
    // Another run's programs are judged meanwhile.
    let begun = Instant::now();
    scene.readonly(["bash", "-c", "for i in {1..100}; do /bin/true; done"])?.expect_code(0);
    println!("100 programs beside them took {:?}", begun.elapsed());
    let mut slowest = Duration::ZERO;
    for question in &questions {
        let (last, begun) = (question.argv.last().cloned().unwrap_or_default(), Instant::now());
        scene.answer(question, &["approve"])?.expect_code(0);
        until(&last, Duration::from_secs(20), || scene.mark(&last).there().then_some(()))?;
        slowest = slowest.max(begun.elapsed());
    }
    println!("slowest answer, from the start of the command to the file: {slowest:?}");
    running.finish()?.expect_line(&count.to_string());
    Ok(())
}
