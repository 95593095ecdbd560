"""Plan: groups of Applications, and what is to be done for each."""
