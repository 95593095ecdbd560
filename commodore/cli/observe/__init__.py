"""`commodore observe`."""
