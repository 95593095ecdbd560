"""Evaluation of Jsonnet with go-jsonnet, and the inventory as Jsonnet files see it."""
