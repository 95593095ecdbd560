"""Processes: environments of children, and pools of workers."""
