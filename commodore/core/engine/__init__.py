"""Render instances to manifests: Kapitan's inputs, then filters, in worker processes."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.engine.cache.instance_records import InstanceRecord as InstanceRecord
    from commodore.core.engine.cache.instance_records import changed_reads as changed_reads
    from commodore.core.engine.cache.instance_records import read_place as read_place
    from commodore.core.engine.cache.instance_records import read_record as read_record
    from commodore.core.engine.engine import COMPILE_STAGE as COMPILE_STAGE
    from commodore.core.engine.engine import Engine as Engine
    from commodore.core.engine.model import Batch as Batch
    from commodore.core.engine.model import BatchOutcome as BatchOutcome
    from commodore.core.engine.model import CompiledInstance as CompiledInstance
    from commodore.core.engine.model import CompileRequest as CompileRequest
    from commodore.core.engine.model import InstanceJob as InstanceJob
else:
    __getattr__ = lazy_exports(__name__)
