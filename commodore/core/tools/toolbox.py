"""The managed folder: the tools that the program has installed, and `state.json`, which the published tool reads too.

`state.json` has the time when each tool was installed: `{"helm": "<local ISO time, seconds, no zone>"}`. It does not
decide what is managed: a tool is managed if its executable is in the folder. So a tool that was deleted manually is not
managed any more, and one whose installation was killed before the state was written is.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault
from commodore.base.events import Noted, Warned
from commodore.base.files.file_lock import HeldElsewhere, hold
from commodore.base.files.workspace import guard_disk, remove_tree, write_atomically
from commodore.core.tools.find import managed_folder

_STAGING = ".installing-"


@dataclass(frozen=True, slots=True)
class Toolbox:
    """A managed folder. It need not exist.

    Attributes:
        preferred: whether its tools take precedence over those in PATH.
    """

    folder: Path
    preferred: bool = False

    @classmethod
    def of_user(cls) -> Toolbox:
        """Return the managed folder of the current user."""
        return cls(managed_folder().absolute())

    @property
    def state_file(self) -> Path:
        return self.folder / "state.json"

    def executable(self, name: str) -> Path:
        """Return the path of a tool's executable, which need not exist."""
        return self.folder / name

    def holds(self, name: str) -> bool:
        """Check if the tool is managed: its executable is in this folder."""
        path = self.executable(name)
        return path.is_file() and os.access(path, os.X_OK)

    def installed(self, context: Context) -> dict[str, str]:
        """Return the installation times by tool, as local ISO times. Warns about a broken state (CMD-TOOL-023)."""
        try:
            with self.state_file.open("rb") as file:
                content = file.read(context.limits.tool_state_bytes + 1)
            state = json.loads(content)
            if not isinstance(state, dict) or len(content) > context.limits.tool_state_bytes:
                raise ValueError
            return {name: time for name, time in state.items() if isinstance(time, str)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            context.announce(
                Warned(
                    "CMD-TOOL-023",
                    f"{self.state_file} cannot be read; when tools were installed is unknown",
                    hint="the next installation writes it again",
                )
            )
            return {}

    def remember(self, name: str, context: Context) -> None:
        """Record that the tool was installed now. The folder must be locked."""
        now = datetime.now(UTC).astimezone().replace(tzinfo=None).isoformat(timespec="seconds")
        self._write({**self.installed(context), name: now})

    def forget(self, name: str, context: Context) -> None:
        """Remove the tool from the state. The folder must be locked."""
        state = self.installed(context)
        if state.pop(name, None) is not None:
            self._write(state)

    def _write(self, state: dict[str, str]) -> None:
        write_atomically(self.state_file, json.dumps(state, sort_keys=True).encode() + b"\n")

    @contextlib.contextmanager
    def locked(self, context: Context) -> Iterator[None]:
        """Lock the folder for changes, and remove temporary folders of killed installations.

        Raises:
            EnvironmentFault: CMD-TOOL-029, another process holds the lock too long; the operating system refused.
        """
        waits = Noted(f"Another run of commodore installs tools in {self.folder}; waiting for it")
        with guard_disk(self.folder):
            self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            try:
                lock = hold(
                    self.folder / ".lock", wait=context.limits.tool_lock_wait, waiting=lambda: context.announce(waits)
                )
            except HeldElsewhere:
                raise EnvironmentFault(
                    "CMD-TOOL-029",
                    f"another run of commodore has been changing {self.folder} for {context.limits.tool_lock_wait:g} s",
                    hint="wait for it to end, or end it",
                ) from None
        with lock:
            for entry in sorted(self.folder.glob(f"{_STAGING}*")):
                remove_tree(entry)
            yield

    @contextlib.contextmanager
    def staging(self) -> Iterator[Path]:
        """Create a temporary folder in this one, which must be locked, and remove it at the end.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        with guard_disk(self.folder):
            folder = Path(tempfile.mkdtemp(prefix=_STAGING, dir=self.folder))
        try:
            yield folder
        finally:
            remove_tree(folder)


def profile_toolbox(profile: str) -> Toolbox:
    """Return the folder of the tools that were installed for a version of Argo CD, such as `3.4`."""
    return Toolbox(managed_folder().absolute() / f"argocd-{profile}", preferred=True)
