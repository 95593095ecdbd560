"""Random edits of whole worlds, each compiled with all caches and without any, and compared."""
