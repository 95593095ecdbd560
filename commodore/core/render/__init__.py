"""Rendering programs of the field: the parts of a kustomization, the words of their errors."""
