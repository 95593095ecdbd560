"""How an instance becomes manifests: Kapitan's inputs, then filters, in worker processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.engine.cache.chart_results import ChartResults
    from commodore.core.engine.cache.instance_records import (
        FilesRead,
        InstanceRecord,
        changed_reads,
        read_place,
        read_record,
    )
    from commodore.core.engine.engine import COMPILE_STAGE, Engine
    from commodore.core.engine.jsonnet.evaluator import check_jsonnet_engine
    from commodore.core.engine.model import Batch, BatchOutcome, CompiledInstance, CompileRequest, InstanceJob

__getattr__ = lazy_exports(
    __name__,
    {
        "cache.chart_results": ("ChartResults",),
        "cache.instance_records": ("FilesRead", "InstanceRecord", "changed_reads", "read_place", "read_record"),
        "engine": ("COMPILE_STAGE", "Engine"),
        "jsonnet.evaluator": ("check_jsonnet_engine",),
        "model": ("Batch", "BatchOutcome", "CompileRequest", "CompiledInstance", "InstanceJob"),
    },
)
__all__ = [
    "Batch",
    "BatchOutcome",
    "COMPILE_STAGE",
    "ChartResults",
    "CompileRequest",
    "CompiledInstance",
    "Engine",
    "FilesRead",
    "InstanceJob",
    "InstanceRecord",
    "changed_reads",
    "check_jsonnet_engine",
    "read_place",
    "read_record",
]
