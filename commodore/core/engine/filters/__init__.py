"""Postprocessing filters of an instance."""
