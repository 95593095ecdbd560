"""HTTP under one policy: time, size, redirects, credentials, retries, proxies and certificate authorities.

Each caller gives the `Client` a table of its errors (`Meaning` by `Problem`), which the client raises.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.sources.http.client import Answer as Answer
    from commodore.core.sources.http.client import Client as Client
    from commodore.core.sources.http.client import Policy as Policy
    from commodore.core.sources.http.connections import netrc_credentials as netrc_credentials
    from commodore.core.sources.http.faults import PROXY_HINT as PROXY_HINT
    from commodore.core.sources.http.faults import UNTRUSTED_HINT as UNTRUSTED_HINT
    from commodore.core.sources.http.faults import Meaning as Meaning
    from commodore.core.sources.http.faults import Problem as Problem
    from commodore.core.sources.http.retries import retry_after as retry_after
    from commodore.core.sources.http.urls import is_loopback as is_loopback
    from commodore.core.sources.http.urls import same_server as same_server
    from commodore.core.sources.http.urls import without_credentials as without_credentials
else:
    __getattr__ = lazy_exports(__name__)
