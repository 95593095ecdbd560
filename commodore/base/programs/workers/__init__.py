"""Processes that do one task after another for a program that stays free: the program says what they do."""

from __future__ import annotations

from commodore.base.programs.workers.cpus import usable_cpus
from commodore.base.programs.workers.messages import SharedPayload, TaskReceiver
from commodore.base.programs.workers.pool import WorkerEnd, WorkerPool

__all__ = ["SharedPayload", "TaskReceiver", "WorkerEnd", "WorkerPool", "usable_cpus"]
