"""An HTTP server for probes, metrics and requests with a token, and the syntax of listen addresses."""

from __future__ import annotations

from commodore.core.serving.server import Handler, Listener, Reply, Routes, probe, read_address, serving

__all__ = ["Handler", "Listener", "Reply", "Routes", "probe", "read_address", "serving"]
