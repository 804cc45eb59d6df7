//! Warden (mechanism), supervisor (judgement) and every face a person sees.
