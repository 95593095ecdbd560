"""Watch: hydrate again and again, and answer probes meanwhile."""
