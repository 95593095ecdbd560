"""Lint of a hierarchy: check class files only, without a cluster and without rendering."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.inventory.lint.formats import as_github as as_github
    from commodore.core.inventory.lint.formats import as_sarif as as_sarif
    from commodore.core.inventory.lint.model import Report as Report
    from commodore.core.inventory.lint.run import ALIASES as ALIASES
    from commodore.core.inventory.lint.run import ALL as ALL
    from commodore.core.inventory.lint.run import LINTERS as LINTERS
    from commodore.core.inventory.lint.run import LintRequest as LintRequest
    from commodore.core.inventory.lint.run import lint as lint
else:
    __getattr__ = lazy_exports(__name__)
