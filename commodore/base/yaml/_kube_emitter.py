"""Write YAML that Kubernetes' library and YAML 1.1 read alike: texts that either would read as another type
are quoted.
"""

from __future__ import annotations

import json

from commodore.base.yaml._kube_loader import is_typed
from commodore.base.yaml.yaml_out import Emitter


class KubeEmitter(Emitter):
    """The emitter of catalogs, with more quotes: `1e3` and `y` are texts there only."""

    def _key(self, key: object) -> str:
        text = super()._key(key)
        if isinstance(key, str) and text[0] not in "'\"" and is_typed(key):
            text = self._keys[key] = f"'{key}':"
        return text

    def _string(self, value: str, column: int, indent: int) -> str:
        text = super()._string(value, column, indent)
        if text == value and is_typed(value):
            text = self._unbreakable[value] = f"'{value}'"
        return text

    def _by_pyyaml(self, document: object, first: bool, last: bool) -> str:
        """Write unusual values as JSON, which is YAML, too."""
        start = "" if first else "---\n"
        return f"{start}{json.dumps(document)}\n"
