"""Values with a grammar of their own: versions, sizes and durations, interned texts."""
