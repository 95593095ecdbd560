"""`commodore catalog`."""
