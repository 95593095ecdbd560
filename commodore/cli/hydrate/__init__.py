"""`commodore hydrate`."""
