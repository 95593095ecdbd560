"""Read files of a fleet's repository and report their errors."""

from __future__ import annotations

from pathlib import Path

from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError
from commodore.base.limits import Limits
from commodore.fleet.repository.config import FleetConfig
from commodore.fleet.repository.files import Document, read_document
from commodore.fleet.repository.schema import schema_problems, static_schema


class Reader:
    """Reads files of a repository. Errors of a file are added to the report, and the file is treated as missing."""

    def __init__(self, root: Path, config: FleetConfig, report: Diagnostics, limits: Limits) -> None:
        self.root = root
        self.config = config
        self.report = report
        self.limits = limits

    def document(self, path: Path, schema: str | None = None) -> Document | None:
        """Return a file, or None if it is invalid, which is reported."""
        try:
            document = read_document(path, self.root, self.limits)
        except CommodoreError as error:
            self.report.add(error)
            return None
        problems = schema_problems(document, static_schema(schema)) if schema else []
        self.report.add(*problems)
        return None if problems else document

    def name(self, path: Path) -> str:
        """Format a path for messages."""
        return str(path.relative_to(self.root))
