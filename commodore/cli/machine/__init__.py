"""Commands about this installation: caches, tools, trust, login, doctor, help."""
