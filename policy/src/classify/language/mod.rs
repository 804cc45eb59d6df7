//! Little languages that read tools run. Each reader answers Read only for what it fully understands.

pub(super) mod awk;
pub(super) mod sed;
pub(super) mod sql;
