"""Run helm, kustomize and Jsonnet, cache their outputs, and read kustomizations and error messages."""
