"""`commodore fleet compile` and `commodore fleet report`."""
