"""Processes: the environment of children, and pools of workers."""
