"""Helm charts, packed, with the index of a chart repository."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import tarfile
from collections.abc import Mapping
from pathlib import Path

from _synthetic.plan import Component

CHARTS_URL = "http://charts.example.com"
CHART_VERSION = "1.4.2"

_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-ROLE
  labels: {{- include "chart.labels" . | nindent 4 }}
  annotations:
    bench.example.com/generation: {{ .Values.generation | quote }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {{- include "chart.labels" . | nindent 6 }}
      role: ROLE
  template:
    metadata:
      labels: {{- include "chart.labels" . | nindent 8 }}
        role: ROLE
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers:
        - name: ROLE
          image: {{ printf "%s/ROLE:%s" .Values.registry .Chart.AppVersion }}
          {{- with .Values.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          env:
            {{- range $name, $value := .Values.env }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          volumeMounts:
            - name: config
              mountPath: /etc/ROLE
      volumes:
        - name: config
          configMap:
            name: {{ .Release.Name }}-ROLE
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-ROLE
  labels: {{- include "chart.labels" . | nindent 4 }}
spec:
  selector: {{- include "chart.labels" . | nindent 4 }}
    role: ROLE
  ports:
    - name: http
      port: 8080
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-ROLE
data:
  generation: {{ .Values.generation | quote }}
  config.yaml: |
CONFIG
"""

_RBAC = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Name }}
rules:
  - apiGroups: [""]
    resources: [configmaps, secrets, services]
    verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .Release.Name }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .Release.Name }}
subjects:
  - kind: ServiceAccount
    name: {{ .Release.Name }}
    namespace: {{ .Release.Namespace }}
"""

_HELPERS = """\
{{- define "chart.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
"""

_VALUES = """\
replicas: 1
registry: docker.io
generation: "0"
env: {}
resources: {}
"""

_ROLES = ("controller", "webhook", "agent", "gateway", "exporter")


def write_chart(component: Component, folder: Path) -> dict[str, str]:
    """Pack the component's chart into `folder`; gives its entry in the index."""
    files = _chart(component)
    content = _pack(component.name, files)
    name = f"{component.name}-{CHART_VERSION}.tgz"
    (folder / name).write_bytes(content)
    return {"name": component.name, "url": f"{CHARTS_URL}/{name}", "digest": hashlib.sha256(content).hexdigest()}


def write_index(entries: list[dict[str, str]], folder: Path) -> None:
    """Write the index of these charts; JSON is YAML."""
    charts = {
        entry["name"]: [
            {
                "apiVersion": "v2",
                "name": entry["name"],
                "version": CHART_VERSION,
                "created": "2026-01-01T12:00:00Z",
                "digest": entry["digest"],
                "urls": [entry["url"]],
            }
        ]
        for entry in entries
    }
    index = {"apiVersion": "v1", "generated": "2026-01-01T12:00:00Z", "entries": charts}
    (folder / "index.yaml").write_text(json.dumps(index, indent=1) + "\n")


def _chart(component: Component) -> dict[str, str]:
    rng = random.Random(f"chart {component.name}")
    about = {"apiVersion": "v2", "name": component.name, "version": CHART_VERSION, "appVersion": "2.0.1"}
    files = {
        "Chart.yaml": json.dumps(about) + "\n",
        "values.yaml": _VALUES,
        "templates/_helpers.tpl": _HELPERS,
        "templates/rbac.yaml": _RBAC,
    }
    for role in _ROLES[: rng.randrange(2, 6)]:
        config = "\n".join(f"    option_{line:02}: {rng.randrange(10**6)}" for line in range(rng.randrange(20, 60)))
        files[f"templates/{role}.yaml"] = _DEPLOYMENT.replace("ROLE", role).replace("CONFIG", config)
    return files


def _pack(name: str, files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    # The time that gzip and tar would write makes no two packings alike.
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for path in sorted(files):
            content = files[path].encode()
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
