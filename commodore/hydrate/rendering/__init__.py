"""Render: dry commits as commits that are wanted, or as folders."""
