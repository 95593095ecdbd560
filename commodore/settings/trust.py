"""Options about what other people's code may do."""

from __future__ import annotations

from commodore.settings.common import OUTPUT_FORMAT, TRUST_POLICY

TRUST_EXPLAIN = (TRUST_POLICY, OUTPUT_FORMAT)
