//! Secrets go before anything is stored or shown, and everything else stays as it was.

mod common;

use stayexec_policy::redact;

/// The words of a line, as a shell would hand them over: quotes taken away, nothing expanded.
fn words(line: &str) -> Option<Vec<Vec<u8>>> {
    if line.contains(['\n', '|', '<', '>', ';', '&', '$', '`', '\\']) {
        return None;
    }
    let (mut out, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => out.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    let assigns = out.first().is_some_and(|first| first.contains('='));
    (quote.is_none() && !assigns && !out.is_empty()).then(|| out.into_iter().map(String::into_bytes).collect())
}

fn shown(argv: &[Vec<u8>]) -> String {
    let once = redact::argv(argv);
    assert_eq!(once.len(), argv.len(), "the number of arguments stays");

    once.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>().join(" ")
}

/// What stands between the marks.
fn marked(line: &str) -> Vec<String> {
    line.split('«').skip(1).filter_map(|rest| Some(rest.split_once('»')?.0.to_owned())).collect()
}

#[test]
fn secrets_go_and_the_rest_stays() {
    let mut secret = false;
    let (mut kept, mut lost, mut spellings, mut plain) = (Vec::new(), Vec::new(), 0, 0);
    for line in common::lines("secrets.txt") {
        match line.as_str() {
            "[secret]" => secret = true,
            "[plain]" => secret = false,
            _ => {
                let secrets = marked(&line);
                let line = line.replace(['«', '»'], "");
                let text = redact::text(&line);
                if redact::text(&text) != text {
                    kept.push(format!("again {text}"));
                }
                let argv = words(&line);
                let as_argv = argv.as_deref().map(shown);
                if secret {
                    spellings += 1;
                    let stays = |shown: &str| secrets.iter().any(|secret| shown.contains(secret.as_str()));
                    if stays(&text) {
                        kept.push(format!("text {text}"));
                    }
                    if let Some(shown) = as_argv.filter(|shown| stays(shown)) {
                        kept.push(format!("argv {shown}"));
                    }
                } else {
                    plain += 1;
                    if text != line {
                        lost.push(format!("text {text}"));
                    }
                    let before =
                        argv.map(|argv| argv.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>().join(" "));
                    if as_argv != before {
                        lost.push(format!("argv {}", as_argv.unwrap_or_default()));
                    }
                }
            }
        }
    }
    assert!(spellings >= 150 && plain >= 60, "{spellings} and {plain}");
    assert!(
        kept.is_empty() && lost.is_empty(),
        "{} kept of {spellings}:\n{}\n{} lost of {plain}:\n{}",
        kept.len(),
        kept.join("\n"),
        lost.len(),
        lost.join("\n")
    );
}
