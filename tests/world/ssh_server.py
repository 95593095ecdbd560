"""A real ssh server on loopback, which lets in one key of its own.

with ssh_server(tmp_path / "ssh", path) as server:
    url = server.url(remote.path)
"""

from __future__ import annotations

import contextlib
import getpass
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_CONFIG = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/key.pub
StrictModes no
UsePAM no
PidFile none
PasswordAuthentication no
MaxStartups 100
"""


@dataclass(frozen=True, slots=True)
class SshServer:
    """Attributes:
    key: the file of the private key that is let in.
    command: what git is to run as ssh.
    """

    port: int
    key: Path

    def url(self, path: Path) -> str:
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{path}"

    @property
    def command(self) -> str:
        options = "-o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
        return f"ssh -i {self.key} -o LogLevel=ERROR {options}"


@contextlib.contextmanager
def ssh_server(folder: Path, path: str) -> Iterator[SshServer]:
    """A server as long as the block runs. Tests are skipped where there is none, or it may not be started.

    Args:
        path: where programs are looked for.
    """
    sshd = shutil.which("sshd", path=f"{path}:/usr/sbin:/usr/local/sbin")
    if sshd is None or shutil.which("ssh", path=path) is None:
        pytest.skip("there is no ssh server")
    folder.mkdir()
    for name in ("host", "key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True, env={"PATH": path})
    with socket.socket() as handle:
        handle.bind(("127.0.0.1", 0))
        port = handle.getsockname()[1]
    (folder / "config").write_text(_CONFIG.format(port=port, folder=folder))
    with subprocess.Popen([sshd, "-D", "-e", "-f", folder / "config"], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            said = server.stderr.readline()
            if "listening" not in said:
                pytest.skip(f"sshd cannot be started: {said}")
            yield SshServer(port, folder / "key")
        finally:
            server.terminate()
