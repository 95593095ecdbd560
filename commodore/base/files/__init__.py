"""Files and folders: atomic writes, staging, trees, locks, sealed content, watching."""
