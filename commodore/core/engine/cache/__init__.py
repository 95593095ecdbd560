"""Results of earlier runs: what an instance has read, whether that is still so, and what was rendered then."""
