//! The words that interceptors, warden and supervisor exchange.
