//! Rules and what they match.

use super::*;

fn rule(pattern: &[&str], decision: GateDecision) -> Rule {
    let pattern = pattern.iter().map(|word| Token::One((*word).to_owned())).collect();
    Rule { pattern, decision, message: None, examples: Vec::new(), counter_examples: Vec::new() }
}

#[test]
fn beginnings() {
    let policy = SecurityPolicy::default();
    let force = rule(&["git", "push", "--force"], GateDecision::Block);
    for text in [
        "git push --force",
        "git push origin main --force",
        "git -C dir push --force=x",
        "git -c a.b=c push --forc",
        "ls && sudo git push --force",
        "/usr/bin/git push --force",
        "sh -c 'git push --force'",
        "env X=1 git push --force",
    ] {
        assert!(force.matches_text(&policy, text), "{text}");
    }
    for text in [
        "git push",
        "git pull --force",
        "echo git push --force",
        "git push -- --force",
        "git commit -m 'git push --force'",
        "git add push --force",
    ] {
        assert!(!force.matches_text(&policy, text), "{text}");
    }
    assert!(rule(&["rm", "-r"], GateDecision::Block).matches_text(&policy, "rm -fr x"));
    assert!(rule(&["npm", "run", "*"], GateDecision::Block).matches_text(&policy, "npm --silent run x"));
}

#[test]
fn flaws_are_errors() {
    let policy = SecurityPolicy::default();
    assert_eq!(rule(&[], GateDecision::Block).validate(&policy), Err(RuleError::Empty));
    assert!(matches!(rule(&["-x"], GateDecision::Block).validate(&policy), Err(RuleError::Never(..))));
    assert!(matches!(rule(&["git push"], GateDecision::Block).validate(&policy), Err(RuleError::Never(..))));
    let mut wrong = rule(&["git", "push"], GateDecision::Block);
    wrong.examples.push("git pull".into());
    assert!(matches!(wrong.validate(&policy), Err(RuleError::Example(_))));
    wrong.examples.clear();
    wrong.counter_examples.push("ls; git push".into());
    assert!(matches!(wrong.validate(&policy), Err(RuleError::CounterExample(_))));
    let parsed: Rule = toml::from_str("match = [\"git\", [\"push\", \"pull\"]]\ndecision = \"prompt\"\nexamples = [\"git pull\"]").unwrap();
    assert_eq!(parsed.validate(&policy), Ok(()));
    assert!(toml::from_str::<Rule>("match = [\"x\"]\ndecision = \"allow\"\nmesage = \"\"").is_err());
}

#[test]
fn allow_needs_every_command() {
    let policy = SecurityPolicy::default();
    let rules = [rule(&["make"], GateDecision::Allow), rule(&["git", "push"], GateDecision::Prompt)];
    let decided = |text: &str| {
        decide(&rules, &policy, &classify::collect_command(&policy, text).commands, &policy.explain_command(text)).map(|rule| rule.decision)
    };
    assert_eq!(decided("make test"), Some(GateDecision::Allow));
    assert_eq!(decided("sh -c 'make test'"), Some(GateDecision::Allow));
    assert_eq!(decided("make && make install"), Some(GateDecision::Allow));
    for text in
        ["make; rm x", "make > /etc/passwd", "make $(rm x)", "LD_PRELOAD=x make", "./make", "sudo make", "make 'unclosed", "$X make", "ls"]
    {
        assert_eq!(decided(text), None, "{text}");
    }
    assert_eq!(decided("make; git push"), Some(GateDecision::Prompt));
}
