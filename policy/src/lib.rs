//! Classes, tiers, classifier and gate. Pure: no I/O, no clock, no globals.
