"""The cache of results: the inputs of an instance, their comparison with the current state, and the rendered files."""
