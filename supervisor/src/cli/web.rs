//! `web`, `token`.
//!
//! Invariant: a secret is printed for the person and given to no program: it is in no argument, environment or file.
//! Refuses nothing itself: the supervisor says where it may listen.

use super::arguments::{Listing, Web};
use super::{context, print, remote};
use crate::control::{self, Connection};
use crate::error::Failure;
use crate::exit_code;
use serde_json::{Value, json};

/// Turns HTTP on and prints the page's address, with a code for one browser.
pub fn open(arguments: &Web) -> Result<u8, Failure> {
    let params = arguments.listen.map_or(Value::Null, |listen| json!({ "listen": listen }));
    let opened = remote::call(&mut connect()?, "web_open", &params)?;
    let (address, code) = (text(&opened, "address"), text(&opened, "code"));
    let url = format!("http://{address}/#code={code}");
    if arguments.json {
        print::json(&json!({ "address": address, "url": url }))?;
    } else {
        print::line(&url)?;
    }
    Ok(exit_code::OK)
}

/// Prints the token.
pub fn token(arguments: &Listing) -> Result<u8, Failure> {
    let given = remote::call(&mut connect()?, "web_token", &Value::Null)?;
    if arguments.json {
        print::json(&given)?;
    } else {
        print::line(&text(&given, "token"))?;
    }
    Ok(exit_code::OK)
}

fn connect() -> Result<Connection, Failure> {
    let (around, directories) = context::here()?;
    directories.make(around.uid)?;
    Ok(control::connect_or_start(&context::address(&directories))?)
}

fn text(of: &Value, name: &str) -> String {
    of[name].as_str().unwrap_or_default().to_owned()
}
