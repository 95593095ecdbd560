"""A real kube-apiserver with etcd, RBAC on, and Kargo's webhook next to it. `scripts/apiserver` builds the binaries."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import socket
import ssl
import subprocess
import tarfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.world.certificates import Certificate
from tests.world.kargo_twin import Denied, Kargo, finish, record
from tests.world.kubernetes import PLURALS, kubeconfig_for, wait_until

Object = dict[str, Any]

USERS = {"admin": "system:masters", **dict.fromkeys(("observer", "observer-2", "observer-3", "observer-4"), "")}
GROUPS = {
    "applications": "argoproj.io",
    **dict.fromkeys(("stages", "freights", "warehouses", "promotions"), "kargo.akuity.io"),
}


class ApiServer:
    """The two processes; `url` stays the same when they are started again."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self.folder = folder
        self.port = free_port()
        self._etcd_ports = (free_port(), free_port())
        self.url = f"https://127.0.0.1:{self.port}"
        self._etcd: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self.kargo = Kargo()

    def start(self) -> None:
        key, public = self.folder / "sa.key", self.folder / "sa.pub"
        if not key.exists():
            _key_pair(key, public)
            tokens = "".join(f'{name}-token,{name},{name},"{group}"\n' for name, group in USERS.items())
            (self.folder / "tokens.csv").write_text(tokens, encoding="utf-8")
        client, peer = (f"http://127.0.0.1:{port}" for port in self._etcd_ports)
        self._etcd = self._spawn(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        )
        self.start_server()

    def start_server(self) -> None:
        self._server = self._spawn(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self._etcd_ports[0]}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--cert-dir={self.folder / 'certs'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            f"--service-account-key-file={self.folder / 'sa.pub'}",
            f"--service-account-signing-key-file={self.folder / 'sa.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--api-audiences=api",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount",
        )
        wait_until(self._is_ready, 180)

    def kill_server(self) -> None:
        """SIGKILL the API server; etcd goes on."""
        assert self._server is not None
        self._server.kill()
        self._server.wait()

    def stop(self) -> None:
        """The server first: the other way round it hangs in its shutdown."""
        for process in (self._server, self._etcd):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def kubeconfig(self, user: str, namespace: str) -> Path:
        file = self.folder / f"kubeconfig-{user}-{namespace}"
        config = kubeconfig_for(self.url, f"{user}-token", namespace, **{"insecure-skip-tls-verify": True})
        file.write_text(json.dumps(config), encoding="utf-8")
        return file

    def ask(
        self, method: str, path: str, body: Any = None, *, user: str = "admin", kind: str = "application/json"
    ) -> tuple[int, Object]:
        """One request: the code and the answer. A server that has just started is asked again."""
        answers: list[tuple[int, Object]] = []

        def answered() -> bool:
            answers.append(self._ask(method, path, body, user=user, kind=kind))
            return answers[-1][0] != 429

        wait_until(answered)
        return answers[-1]

    def _ask(self, method: str, path: str, body: Any, *, user: str, kind: str) -> tuple[int, Object]:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {user}-token", "Content-Type": kind}
        request = urllib.request.Request(self.url + path, data=content, method=method, headers=headers)
        context = ssl._create_unverified_context()
        try:
            with urllib.request.urlopen(request, context=context, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read()
            try:
                return error.code, json.loads(text)
            except ValueError:
                return error.code, {"message": text.decode("utf-8", "replace")}

    def _is_ready(self) -> bool:
        assert self._server is not None
        if self._server.poll() is not None:
            log = (self.folder / "kube-apiserver.log").read_text(encoding="utf-8", errors="replace")
            raise AssertionError(f"kube-apiserver ended: {log[-2000:]}")
        request = urllib.request.Request(f"{self.url}/readyz", headers={"Authorization": "Bearer admin-token"})
        try:
            with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=5) as answer:
                return bool(answer.read() == b"ok")
        except OSError:
            return False

    def _spawn(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{program}.log").open("ab") as log:
            return subprocess.Popen(
                [str(self._binaries / program), *arguments], stdout=log, stderr=log, cwd=self.folder
            )

    # Objects

    def path(self, plural: str, namespace: str, name: str = "") -> str:
        group = GROUPS.get(plural)
        root = f"/apis/{group}/v1alpha1" if group else "/api/v1"
        return f"{root}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")

    def put(self, *objects: Object) -> None:
        """Store objects with their status, new ones or in place of others."""
        for item in objects:
            plural, meta = PLURALS[item["kind"]], item["metadata"]
            where = self.path(plural, meta["namespace"], meta["name"])
            body = {
                **item,
                "metadata": {key: value for key, value in meta.items() if key not in ("creationTimestamp", "uid")},
            }
            code, there = self.ask("GET", where)
            if code == 404:
                code, made = self.ask("POST", self.path(plural, meta["namespace"]), body)
            else:
                version = {"resourceVersion": there["metadata"]["resourceVersion"]}
                code, made = self.ask("PUT", where, {**body, "metadata": {**body["metadata"], **version}})
            assert code in (200, 201), made
            if "status" in item and plural != "applications":
                body = {**made, "status": item["status"]}
                code, made = self.ask("PUT", f"{where}/status", body)
                assert code == 200, made

    def all(self, plural: str, namespace: str) -> list[Object]:
        code, result = self.ask("GET", self.path(plural, namespace))
        assert code == 200, result
        return list(result["items"])

    def delete(self, plural: str, namespace: str, name: str) -> None:
        code, answer = self.ask("DELETE", self.path(plural, namespace, name))
        assert code == 200, answer

    def run_kargo(self, namespace: str, phase: str = "Succeeded") -> None:
        """Let Kargo run the open Promotions of a namespace, and record them."""
        for item in self.all("promotions", namespace):
            if not item.get("status", {}).get("phase"):
                self._put_status("promotions", finish(item, phase))
        for stage in self.all("stages", namespace):
            after = record(stage, self.all("promotions", namespace), self.all("freights", namespace))
            if after != stage:
                self._put_status("stages", after)

    def _put_status(self, plural: str, body: Object) -> None:
        meta = body["metadata"]
        code, answer = self.ask("PUT", f"{self.path(plural, meta['namespace'], meta['name'])}/status", body)
        assert code == 200, answer

    # What is installed

    def install(self, definitions: list[Object]) -> None:
        """Install definitions of kinds, and wait until they are served."""
        for definition in definitions:
            name = definition["metadata"]["name"]
            where = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=tests&force=true"
            code, answer = self.ask("PATCH", where, definition, kind="application/apply-patch+yaml")
            assert code in (200, 201), answer
        for plural, group in GROUPS.items():
            wait_until(lambda plural=plural, group=group: self.ask("GET", f"/apis/{group}/v1alpha1/{plural}")[0] == 200)

    def grant(self, objects: list[Object], user: str) -> None:
        """Create roles, and bind to the user what is bound to a service account."""
        for item in objects:
            item = json.loads(json.dumps(item))
            if "subjects" in item:
                item["subjects"] = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]
                item["metadata"]["name"] += f"-{user}"
            namespace = item["metadata"].get("namespace")
            place = f"/namespaces/{namespace}" if namespace else ""
            kind = item["kind"].lower() + "s"
            code, answer = self.ask("POST", f"/apis/rbac.authorization.k8s.io/v1{place}/{kind}", item)
            assert code in (201, 409), answer

    def namespace(self, name: str) -> None:
        code, answer = self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        assert code in (201, 409), answer


def definitions(real: Path | None) -> list[Object]:
    """The published definitions where they are given, else small ones of our own with any fields."""
    archive = real / "observe" / "crds.tar.xz" if real else None
    if archive is not None and archive.exists():
        with tarfile.open(archive) as tar:
            expected = [f"{group}_{plural}.yaml" for plural, group in GROUPS.items()]
            members = [getmember for getmember in tar.getmembers() if Path(getmember.name).name in expected]
            results = [yaml.safe_load(file) for member in members if (file := tar.extractfile(member)) is not None]
            return [{key: result[key] for key in ("apiVersion", "kind", "metadata", "spec")} for result in results]
    return [_definition(kind, plural) for kind, plural in PLURALS.items()]


def _definition(kind: str, plural: str) -> Object:
    group = GROUPS[plural]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "https://example.com/test"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {**anything, "properties": {"status": anything}}},
                    **({"subresources": {"status": {}}} if kind != "Application" else {}),
                }
            ],
        },
    }


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _key_pair(key: Path, public: Path) -> None:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    none, encoding = serialization.NoEncryption(), serialization.Encoding.PEM
    key.write_bytes(made.private_bytes(encoding, serialization.PrivateFormat.TraditionalOpenSSL, none))
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public.write_bytes(made.public_key().public_bytes(encoding, form))


@contextlib.contextmanager
def webhook(server: ApiServer, certificate: Certificate) -> Iterator[None]:
    """Kargo's webhook on loopback, registered with the server. It decides as `server.kargo` says."""

    def stored(plural: str, namespace: str, name: str) -> Object | None:
        code, result = server.ask("GET", server.path(plural, namespace, name))
        return result if code == 200 else None

    server.kargo.get = stored

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps({**review, "response": _review(server, review["request"])}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    listening.socket = context.wrap_socket(listening.socket, server_side=True)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        _register(server, int(listening.server_address[1]), certificate)
        yield
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def _review(server: ApiServer, request: Object) -> Object:
    user = request["userInfo"]
    promotion = request["object"]

    def may(_user: str) -> bool:
        attributes = {
            "namespace": request["namespace"],
            "verb": "promote",
            "group": "kargo.akuity.io",
            "resource": "stages",
            "name": promotion["spec"]["stage"],
        }
        asked = {"spec": {"user": user["username"], "groups": user.get("groups"), "resourceAttributes": attributes}}
        code, answer = server.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", asked)
        return code == 201 and bool(answer["status"]["allowed"])

    server.kargo.may_promote = may
    try:
        made = server.kargo.admit(promotion, user["username"])
    except Denied as denied:
        status = {"code": denied.code, "message": denied.text}
        return {"uid": request["uid"], "allowed": False, "status": status}
    patch = [
        {"op": "replace", "path": "/metadata/name", "value": made["metadata"]["name"]},
        {"op": "add", "path": "/metadata/labels", "value": made["metadata"]["labels"]},
        {"op": "replace", "path": "/spec", "value": made["spec"]},
    ]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"uid": request["uid"], "allowed": True, "patchType": "JSONPatch", "patch": encoded}


def _register(server: ApiServer, port: int, certificate: Certificate) -> None:
    bundle = base64.b64encode(certificate.chain.read_bytes()).decode()
    code, answer = server.ask(
        "POST",
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        {
            "metadata": {"name": "kargo"},
            "webhooks": [
                {
                    "name": "promotion.kargo.akuity.io",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "failurePolicy": "Fail",
                    "clientConfig": {"url": f"https://127.0.0.1:{port}/", "caBundle": bundle},
                    "rules": [
                        {
                            "apiGroups": ["kargo.akuity.io"],
                            "apiVersions": ["v1alpha1"],
                            "operations": ["CREATE"],
                            "resources": ["promotions"],
                        }
                    ],
                }
            ],
        },
    )
    assert code == 201, answer
