"""Files from web servers: chart indexes, charts, value files, files of kustomizations."""

from __future__ import annotations

from commodore.argocd.acquiring.credentials import HINT
from commodore.argocd.acquiring.providers import RemoteProvider
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.events import Obtained
from commodore.core.confinement.policy import check_source
from commodore.core.sources.http import PROXY_HINT, UNTRUSTED_HINT, Client, Meaning, Policy, Problem

_HINT = "check the URL and the network"
_MEANINGS = {
    **dict.fromkeys(Problem, Meaning(EnvironmentFault, "CMD-ARGO-311", _HINT)),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-ARGO-311", UNTRUSTED_HINT),
    Problem.PROXY: Meaning(EnvironmentFault, "CMD-ARGO-311", PROXY_HINT),
    Problem.TOO_LARGE: Meaning(PolicyError, "CMD-ARGO-317", "is the URL the right one?"),
    Problem.REDIRECT_REFUSED: Meaning(PolicyError, "CMD-ARGO-320", "correct the URL"),
}
_REFUSES = frozenset({401, 403, 407})


def fetch(url: str, context: Context, size: int, remotes: RemoteProvider | None = None, *, named_by: str = "") -> bytes:
    """Return the content of a URL.

    Args:
        size: the maximum number of bytes.
        remotes: queried first.
        named_by: the URL of the chart repository that has this URL in its index.

    Raises:
        EnvironmentFault: CMD-ARGO-310, offline; CMD-ARGO-311, no answer, or an error status;
            CMD-ARGO-312, the server requires credentials.
        PolicyError: CMD-ARGO-317, the answer is too large; CMD-ARGO-320, the URL is refused, or redirects to
            one that is; CMD-CONF-011, the server is link-local.
    """
    from commodore.core.sources.http import without_credentials

    shown = without_credentials(url)
    if not url.startswith(("http://", "https://")):
        raise PolicyError(
            "CMD-ARGO-320",
            f"the URL {shown} must begin with http:// or https://",
            hint="files are fetched by HTTP only",
        )
    given = remotes.fetch(url) if remotes is not None else None
    if given is not None:
        context.announce(Obtained(shown, "", "", "caller"))
        return given
    check_source(url, f"the file {shown}")
    if context.offline:
        raise EnvironmentFault(
            "CMD-ARGO-310", f"{shown} is not in the cache, and nothing is fetched offline", hint="run without --offline"
        )
    limits = context.limits
    policy = Policy(
        limits.download_timeout, limits.argocd_download_seconds, size, 2, rate=limits.download_rate, other_servers=True
    )
    client = Client(context, _MEANINGS)
    try:
        allowed = context.access.headers(url, named_by) if context.access is not None else {}
        answer = client.get(url, policy, credentials=allowed)
    finally:
        client.close()
    if answer.status in _REFUSES:
        raise EnvironmentFault(
            "CMD-ARGO-312",
            f"{shown} {'rejects these' if allowed else 'requires'} credentials (status {answer.status})",
            hint=HINT,
        )
    if answer.status != 200:
        raise EnvironmentFault("CMD-ARGO-311", f"{shown} answers with status {answer.status}", hint=_HINT)
    context.announce(Obtained(shown, "", "", "fetched"))
    return answer.body
