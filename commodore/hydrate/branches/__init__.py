"""Branches as they are: files, notes, whose paths they hold, edits of others."""
