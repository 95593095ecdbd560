"""How an instance becomes manifests: Kapitan's inputs, then filters, in worker processes."""

from __future__ import annotations

from commodore.engine.engine import COMPILE_STAGE, Engine, usable_cpus
from commodore.engine.model import Batch, BatchOutcome, CompiledInstance, CompileRequest, InstanceJob

__all__ = [
    "Batch",
    "BatchOutcome",
    "COMPILE_STAGE",
    "CompileRequest",
    "CompiledInstance",
    "Engine",
    "InstanceJob",
    "usable_cpus",
]
