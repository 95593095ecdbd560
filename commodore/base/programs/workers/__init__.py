"""Worker processes that run one task after another, defined by the program that uses them."""

from __future__ import annotations

from commodore.base.programs.workers.cpus import usable_cpus
from commodore.base.programs.workers.messages import SharedPayload, TaskReceiver
from commodore.base.programs.workers.pool import WorkerEnd, WorkerPool

__all__ = ["SharedPayload", "TaskReceiver", "WorkerEnd", "WorkerPool", "usable_cpus"]
