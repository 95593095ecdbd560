"""Publishing: commits and notes and their pushes, bundles, credentials for pushes."""
