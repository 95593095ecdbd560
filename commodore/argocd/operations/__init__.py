"""The operations on trees, with their options, sessions and results. `commodore.argocd` exports them."""
