"""Rendering of dry commits as commit requests or folders."""
