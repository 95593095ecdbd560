"""Made-up metadata of a compile."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from commodore.catalog import CompileMetadata, RepositoryVersion


def version(name: str, **more: str) -> RepositoryVersion:
    return RepositoryVersion(
        f"https://git.example.com/{name}.git", "v1.0.0", f"{name:0>40}", f"{name:0>40}"[:6], **more
    )


METADATA = CompileMetadata(
    instances={
        "b": version("b", component="comp"),
        "a": version("a", component="a", path="sub"),
    },
    packages={"p": version("p", path=""), "o": version("o")},
    global_config=version("g"),
    tenant_config=version("t"),
    compiled_at=datetime(2026, 1, 31, 12, 34, 56, 789_654, timezone(timedelta(hours=1))),
)
