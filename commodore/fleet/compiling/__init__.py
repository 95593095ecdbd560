"""Compiling the catalogs of many clusters."""
