"""Publish: commits and notes, made and pushed; bundles; credentials for pushes."""
