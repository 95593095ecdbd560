"""Processes that do one task after another for a program that stays free: what they do is up to whoever has them."""

from __future__ import annotations

from commodore.workers.messages import Shared, TaskReceiver
from commodore.workers.pool import WorkerEnd, WorkerPool

__all__ = ["Shared", "TaskReceiver", "WorkerEnd", "WorkerPool"]
