"""Patches on their way: the next place, gates, coalescing, folding, and what is known about the state of a fleet."""
