//! The JSON Schema, held against the loader: each knows every key and every word of the other.

use super::document::Document;
use serde_json::Value;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn schema() -> Result<Value> {
    Ok(serde_json::from_str(include_str!("../../schema/config.schema.json"))?)
}

/// The names that the loader lists when it meets one that it does not know.
fn known(text: &str) -> Vec<String> {
    let error = Document::parse(text, Path::new("x")).err().map(|e| e.to_string()).unwrap_or_default();
    let listed = error.split_once("expected").map(|(_, names)| names).unwrap_or_default();
    let mut names: Vec<String> = listed.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    names.sort();
    names
}

fn keys(of: &Value) -> Vec<String> {
    let mut names: Vec<String> = of.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

fn words(of: &Value) -> Vec<String> {
    let mut names: Vec<String> = of.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect();
    names.sort();
    names
}

#[test]
fn both_know_the_same_keys() -> Result<()> {
    let schema = schema()?;
    let top = &schema["properties"];
    assert_eq!(keys(top), known("zzz = 1"));
    assert_eq!(keys(&top["matrix"]["properties"]), known("[matrix.zzz]"));
    assert_eq!(keys(&schema["$defs"]["row"]["properties"]), known("[matrix.full]\nzzz = \"allow\""));
    assert_eq!(keys(&top["classify"]["properties"]), known("[classify]\nzzz = 1"));
    assert_eq!(keys(&top["forbidden"]["properties"]), known("[forbidden]\nzzz = 1"));
    assert_eq!(keys(&top["http"]["properties"]), known("[http]\nzzz = 1"));
    assert_eq!(vec!["command".to_owned()], keys(&top["notify"]["properties"]));
    assert_eq!(vec!["dirs".to_owned()], keys(&top["trust"]["properties"]));
    assert_eq!(keys(&top["rule"]["items"]["properties"]), known("[[rule]]\nzzz = 1"));
    assert_eq!(keys(&top["program"]["additionalProperties"]["properties"]), known("[program.x]\nzzz = 1"));
    Ok(())
}

#[test]
fn both_know_the_same_words() -> Result<()> {
    let schema = schema()?;
    let top = &schema["properties"];
    for key in ["tier", "origin", "require", "hold", "gate_off", "observe"] {
        assert_eq!(words(&top[key]["enum"]), known(&format!("{key} = \"zzz\"")), "{key}");
    }
    for key in ["shell", "unknown"] {
        assert_eq!(words(&top["classify"]["properties"][key]["enum"]), known(&format!("[classify]\n{key} = \"zzz\"")), "{key}");
    }
    assert_eq!(words(&schema["$defs"]["decision"]["enum"]), known("[matrix.full]\nread = \"zzz\""));
    let risk = &top["program"]["additionalProperties"]["properties"]["risk_level"]["enum"];
    assert_eq!(words(risk), known("[program.x]\nrisk_level = \"zzz\""));
    Ok(())
}
