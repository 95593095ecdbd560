"""Stores of results, local and remote, and the caches of the machine."""
