"""Planning: groups of Applications, and the decision about each."""
