"""The watcher: repeated hydration, with HTTP pages for probes."""
