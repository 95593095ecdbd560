"""`commodore argocd`."""
