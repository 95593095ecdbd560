"""Reading of Applications, their settings and their sources."""
