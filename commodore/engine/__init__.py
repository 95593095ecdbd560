"""How an instance becomes manifests: Kapitan's inputs, then filters, in worker processes."""

from __future__ import annotations

from commodore.engine._records import InstanceRecord, changed_reads, read_place, read_record
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
    "InstanceRecord",
    "changed_reads",
    "read_place",
    "read_record",
    "usable_cpus",
]
