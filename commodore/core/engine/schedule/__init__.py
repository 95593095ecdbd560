"""Scheduling of fetches and renderings."""
