"""The pool of worker processes, seen from the main process."""
