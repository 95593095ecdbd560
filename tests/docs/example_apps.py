"""A stand-in for github.com/argoproj/argocd-example-apps: the folders of the tutorial, with texts of ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.world.folders import write_files

URL = "https://github.com/argoproj/argocd-example-apps"
_APPLICATIONS = """\
{{- range .Values.applications }}
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: "example.{{ . }}", namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: {{ . }}}
  source:
    repoURL: %s
    targetRevision: master
    path: {{ . }}
{{- if eq . "helm-guestbook" }}
    helm: {releaseName: helm-guestbook}
{{- end }}
---
{{ end -}}
"""
_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: %(name)s
spec:
  replicas: %(replicas)s
  selector:
    matchLabels:
      app: guestbook-ui
  template:
    metadata:
      labels:
        app: guestbook-ui
    spec:
      containers:
        - image: gcr.io/google-samples/gb-frontend:v5
          name: guestbook-ui
"""
_PLAIN = _DEPLOYMENT % {"name": "guestbook-ui", "replicas": 1}
_SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: guestbook-ui}
spec: {ports: [{port: 80}], selector: {app: guestbook-ui}}
"""
_BUILT = "resources: [guestbook-ui-deployment.yaml, guestbook-ui-svc.yaml]\nnamePrefix: kustomize-\n"
NAMES = ("guestbook", "helm-guestbook", "kustomize-guestbook", "pre-post-sync")
FILES = {
    "apps/Chart.yaml": "apiVersion: v2\nname: applications\nversion: 1.0.0\n",
    "apps/values.yaml": f"applications: [{', '.join(NAMES)}]\n",
    "apps/templates/applications.yaml": _APPLICATIONS % URL,
    "guestbook/guestbook-ui-deployment.yaml": _PLAIN,
    "guestbook/guestbook-ui-svc.yaml": _SERVICE,
    "helm-guestbook/Chart.yaml": "apiVersion: v2\nname: helm-guestbook\nversion: 0.1.0\n",
    "helm-guestbook/values.yaml": "replicaCount: 1\n",
    "helm-guestbook/templates/deployment.yaml": _DEPLOYMENT
    % {"name": "{{ .Release.Name }}", "replicas": "{{ .Values.replicaCount }}"},
    "kustomize-guestbook/kustomization.yaml": _BUILT,
    "kustomize-guestbook/guestbook-ui-deployment.yaml": _PLAIN,
    "kustomize-guestbook/guestbook-ui-svc.yaml": _SERVICE,
    "pre-post-sync/kustomization.yaml": "resources: [../kustomize-guestbook]\nnamePrefix: pre-post-sync-\n",
}


def make_remote(folder: Path) -> dict[str, str]:
    """Make the repository below a folder; the environment with which git takes it for the public one."""
    remote = folder / "argoproj" / "argocd-example-apps"
    write_files(remote, FILES)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q", "-b", "master"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=remote, check=True)
    key = f"url.{folder / 'argoproj'}/.insteadOf"
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": "https://github.com/argoproj/"}
