"""Rendered branches: what Argo CD Applications render, as plain manifests with provenance, committed and pushed."""
