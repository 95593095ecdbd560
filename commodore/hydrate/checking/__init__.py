"""Check: what branches are at, and whether they hold what they record."""
