"""Answering HTTP: probes, metrics, and requests with a token. One rule for addresses to listen on."""

from __future__ import annotations

from commodore.core.serving.server import Handler, Listener, Pages, Reply, probe, read_address, serving

__all__ = ["Handler", "Listener", "Pages", "Reply", "probe", "read_address", "serving"]
