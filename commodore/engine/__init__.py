"""How an instance becomes manifests: Kapitan's inputs, then filters, in worker processes."""

from __future__ import annotations

from commodore.engine.cache.instance_records import FilesRead, InstanceRecord, changed_reads, read_place, read_record
from commodore.engine.cache.maintenance import (
    KeptResult,
    is_sound_dependency,
    is_sound_download,
    is_sound_result,
    kept_results,
    kept_shapes,
    tidy_results,
)
from commodore.engine.engine import COMPILE_STAGE, Engine, usable_cpus
from commodore.engine.jsonnet.evaluator import check_jsonnet_engine
from commodore.engine.model import Batch, BatchOutcome, CompiledInstance, CompileRequest, InstanceJob

__all__ = [
    "Batch",
    "BatchOutcome",
    "COMPILE_STAGE",
    "CompileRequest",
    "CompiledInstance",
    "Engine",
    "FilesRead",
    "InstanceJob",
    "InstanceRecord",
    "KeptResult",
    "changed_reads",
    "check_jsonnet_engine",
    "is_sound_dependency",
    "is_sound_download",
    "is_sound_result",
    "kept_results",
    "kept_shapes",
    "read_place",
    "read_record",
    "tidy_results",
    "usable_cpus",
]
