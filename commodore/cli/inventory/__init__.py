"""`commodore inventory`."""
