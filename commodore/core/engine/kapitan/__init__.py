"""The adaptor to Kapitan: the only package that imports it."""
