//! What is known about programs.

use std::sync::Arc;

/// Knowledge about programs.
#[derive(Debug, Default)]
pub struct Knowledge {}

impl Knowledge {
    /// The knowledge that is compiled in.
    #[must_use]
    pub fn builtin() -> Arc<Self> {
        Arc::new(Self::default())
    }
}
