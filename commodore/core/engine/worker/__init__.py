"""A worker process: its server, and the execution of tasks."""
