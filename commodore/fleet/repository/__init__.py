"""The repository of a fleet: reading and checking its files."""
