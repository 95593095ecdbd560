"""Jsonnet evaluated with go-jsonnet, and the inventory as they see it."""
