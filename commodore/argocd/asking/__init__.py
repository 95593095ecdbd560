"""Questions about trees, answered: options, one session for each, and results. `commodore.argocd` has their names."""
