"""Status of branches, and verification against their recorded dry commits."""
