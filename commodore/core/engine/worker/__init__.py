"""A worker process: its server, and what it does with a task."""
