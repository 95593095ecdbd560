"""Hydrated branches: their files, notes, owners of paths, and edits of others."""
