"""Content from elsewhere: git, HTTP, OCI registries, archives."""
