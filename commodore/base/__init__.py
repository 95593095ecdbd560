"""Materials that everything stands on. Nothing here knows of GitOps."""
