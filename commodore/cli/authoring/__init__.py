"""`commodore component` and `commodore package`."""
