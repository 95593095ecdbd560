"""`commodore fleet`: the generator."""
