"""Promotion of patches: next place, gates, coalescing, folding, and the known state of a fleet."""
