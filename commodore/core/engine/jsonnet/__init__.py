"""The Jsonnet engines, and the inventory as they see it."""
