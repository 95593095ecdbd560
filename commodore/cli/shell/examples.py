"""Examples of every command, and the page of the documentation that says more. Loaded for help only."""

from __future__ import annotations

_DOCUMENTATION = "docs"
"""Where the pages are: a folder of the source."""

_TABLE: dict[str, tuple[str, ...]] = {
    "": (
        "index.md",
        "commodore login --api-url https://api.syn.example.com",
        "commodore catalog compile c-example              # show what would change",
        "commodore catalog compile c-example --push       # and push it",
        "commodore -d work -q catalog compile c-example   # these options come first",
        "commodore help catalog compile",
        "commodore doctor                                 # when nothing works",
    ),
    "argocd": ("how-to/analyse-argocd-repositories.md", "commodore argocd diff --base main"),
    "argocd apps": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd apps",
        "commodore argocd apps --path clusters/prod -o name",
    ),
    "argocd appsets": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd appsets --path clusters/prod --write-facts facts.yaml",
        "commodore argocd appsets --appset appset.yaml --facts facts.yaml",
    ),
    "argocd diagnostics": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd diagnostics --path clusters/prod --show rendered",
    ),
    "argocd diff": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd diff --base main                  # what this branch changes",
        "commodore argocd diff --base main --report diff.md --fail-on deletes-crd",
    ),
    "argocd explain": ("how-to/analyse-argocd-repositories.md", "commodore argocd explain guestbook"),
    "argocd images": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd images",
        "commodore argocd images --base main                # only what a change brings",
    ),
    "argocd normalize": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd normalize --app app.yaml --objects live.yaml",
    ),
    "argocd plugins": ("how-to/analyse-argocd-repositories.md", "commodore argocd plugins check policy.yaml"),
    "argocd plugins check": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd plugins check policy.yaml",
    ),
    "argocd render": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd render guestbook",
        "commodore argocd render --app app.yaml -o name",
        "commodore argocd render --out /tmp/rendered --layout object",
    ),
    "argocd settings": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd settings --installation installation.yaml",
    ),
    "argocd test": (
        "how-to/analyse-argocd-repositories.md",
        "commodore argocd test",
        "commodore argocd test --schema --twice",
        "commodore argocd test -o junit > results.xml",
    ),
    "argocd version": ("how-to/analyse-argocd-repositories.md", "commodore argocd version"),
    "cache": ("how-to/use-the-cache.md", "commodore cache info"),
    "cache info": ("how-to/use-the-cache.md", "commodore cache info", "commodore cache info -o json"),
    "cache key": (
        "how-to/use-the-cache.md",
        "commodore cache key ci.pem --new",
    ),
    "cache prune": (
        "how-to/use-the-cache.md",
        "commodore cache prune",
        "commodore cache prune --max-size 1GiB --dry-run",
    ),
    "cache verify": ("how-to/use-the-cache.md", "commodore cache verify"),
    "catalog": ("how-to/compile-and-push.md", "commodore catalog compile c-example"),
    "catalog clean": ("reference/environment.md", "commodore catalog clean"),
    "catalog compile": (
        "how-to/compile-and-push.md",
        "commodore catalog compile c-example                # show what would change",
        "commodore catalog compile c-example --push -i      # ask, then push",
        "commodore catalog compile c-example -t my-branch   # the tenant's branch",
        "commodore catalog compile c-example --local        # what is in the folder",
        "commodore -d work catalog compile c-example --cluster-file cluster.yml",
    ),
    "catalog diff": (
        "how-to/compare-catalogs.md",
        "commodore catalog diff                             # what is not committed",
        "commodore catalog diff --base HEAD~1 --target HEAD -o markdown",
    ),
    "catalog explain": (
        "how-to/explain-a-manifest.md",
        "commodore catalog explain manifests/app/web.yaml",
        "commodore catalog explain 'manifests/web.yaml#Deployment/web.spec.replicas'",
    ),
    "catalog images": (
        "how-to/look-into-a-catalog.md",
        "commodore catalog images",
        "commodore catalog images --diff HEAD~1",
    ),
    "catalog list": (
        "how-to/compile-and-push.md",
        "commodore catalog list",
        "commodore catalog list -t t-example -o id",
    ),
    "catalog objects": (
        "how-to/look-into-a-catalog.md",
        "commodore catalog objects --kind Deployment",
    ),
    "catalog sbom": ("how-to/look-into-a-catalog.md", "commodore catalog sbom > sbom.json"),
    "catalog validate": (
        "how-to/look-into-a-catalog.md",
        "commodore catalog validate --kube-version 1.33",
    ),
    "config": ("reference/environment.md", "commodore config show"),
    "config show": (
        "reference/environment.md",
        "commodore config show",
        "commodore config show catalog compile --all",
    ),
    "completion": ("how-to/shell-completion.md", 'eval "$(commodore completion bash)"'),
    "component": ("how-to/author-a-component.md", "commodore component new my-app --lib"),
    "component compile": (
        "how-to/author-a-component.md",
        "commodore component compile . -f tests/defaults.yml",
        "commodore component compile . -f tests/defaults.yml --watch",
    ),
    "component delete": ("how-to/author-a-component.md", "commodore component delete my-app"),
    "component new": (
        "how-to/author-a-component.md",
        "commodore component new my-app --owner my-org --lib",
    ),
    "component sync": (
        "how-to/sync-templates.md",
        "commodore component sync components.yml --dry-run",
    ),
    "component test": (
        "reference/golden-tests.md",
        "commodore component test .",
        "commodore component test . --case openshift --update",
    ),
    "component update": (
        "how-to/author-a-component.md",
        "commodore component update .",
        "commodore component update . --lib --no-commit",
    ),
    "doctor": (
        "how-to/check-the-machine.md",
        "commodore doctor --api-url https://api.syn.example.com",
        "commodore doctor -o json",
    ),
    "explain": ("reference/errors/index.md", "commodore explain CMD-DEP-012"),
    "fetch-token": ("how-to/log-in.md", "commodore fetch-token --api-url https://api.syn.example.com"),
    "fleet": ("how-to/generate-a-fleet.md", "commodore fleet generate", "commodore fleet compile"),
    "fleet applicationset": (
        "how-to/generate-a-fleet.md",
        "commodore fleet applicationset workload --repo-url git@example.com:fleet.git",
    ),
    "fleet compile": (
        "how-to/compile-many-clusters.md",
        "commodore fleet compile --tenant t-example         # nothing is pushed",
        "commodore fleet compile --push --canary 5%         # some first, then all",
        "commodore fleet compile --push --resume",
    ),
    "fleet diff": ("how-to/generate-a-fleet.md", "commodore fleet diff main"),
    "fleet drift": ("how-to/generate-a-fleet.md", "commodore fleet drift --status status.yaml"),
    "fleet import": (
        "how-to/generate-a-fleet.md",
        "commodore fleet import workload values/*.yaml --app app --dry-run",
    ),
    "fleet fold": ("how-to/promote-patches.md", "commodore fleet fold workload app raise-memory --dry-run"),
    "fleet generate": (
        "how-to/generate-a-fleet.md",
        "commodore fleet generate",
        "commodore fleet generate --environment prod --dry-run",
    ),
    "fleet graph": ("how-to/promote-patches.md", "commodore fleet graph -o svg > sequence.svg"),
    "fleet init": ("how-to/generate-a-fleet.md", "commodore -d my-fleet fleet init"),
    "fleet owners": ("how-to/promote-patches.md", "commodore fleet owners list overrides/prod"),
    "fleet owners check": (
        "how-to/promote-patches.md",
        "commodore fleet owners check --base main --author tess",
    ),
    "fleet owners list": ("how-to/promote-patches.md", "commodore fleet owners list overrides/prod"),
    "fleet plan": ("how-to/promote-patches.md", "commodore fleet plan workload app raise-memory"),
    "fleet preview": ("how-to/generate-a-fleet.md", "commodore fleet preview prod/eu-1"),
    "fleet promote": (
        "how-to/promote-patches.md",
        "commodore fleet promote workload app raise-memory",
        "commodore fleet promote --auto --dry-run",
    ),
    "fleet report": ("reference/fleet-report.md", "commodore fleet report", "commodore fleet report --state failed"),
    "fleet schema": ("reference/fleet-files.md", "commodore fleet schema"),
    "fleet status": ("how-to/promote-patches.md", "commodore fleet status"),
    "fleet validate": ("how-to/generate-a-fleet.md", "commodore fleet validate --strict"),
    "help": ("reference/commands.md", "commodore help catalog compile"),
    "hydrate": ("how-to/hydrate-branches.md", "commodore hydrate plan"),
    "hydrate check": ("how-to/hydrate-branches.md", "commodore hydrate check ."),
    "hydrate commit": ("how-to/hydrate-branches.md", "commodore hydrate commit bundle.tar --dry-run"),
    "hydrate plan": ("how-to/hydrate-branches.md", "commodore hydrate plan ."),
    "hydrate render": ("how-to/hydrate-branches.md", "commodore hydrate render . --bundle bundle.tar"),
    "hydrate run": (
        "how-to/hydrate-branches.md",
        "commodore hydrate run . --dry-run",
        "commodore hydrate run . --watch",
        "commodore hydrate run . --dry-run --watch-files",
    ),
    "hydrate status": ("how-to/hydrate-branches.md", "commodore hydrate status ."),
    "init": ("how-to/begin-a-hierarchy.md", "commodore init my-hierarchy"),
    "inventory": ("how-to/inspect-the-inventory.md", "commodore inventory show --path argocd"),
    "inventory components": (
        "how-to/inspect-the-inventory.md",
        "commodore inventory components global-defaults tenant-config",
    ),
    "inventory explain": (
        "how-to/explain-a-parameter.md",
        "commodore inventory explain argocd.images.argocd.tag",
    ),
    "inventory lint": (
        "how-to/lint-a-hierarchy.md",
        "commodore inventory lint .",
        "commodore inventory lint global-defaults -o sarif --output lint.sarif",
    ),
    "inventory packages": (
        "how-to/inspect-the-inventory.md",
        "commodore inventory packages global-defaults tenant-config",
    ),
    "inventory show": (
        "how-to/inspect-the-inventory.md",
        "commodore inventory show --path argocd             # of the last compile",
        "commodore inventory show global-defaults tenant-config -f cluster.yml",
    ),
    "login": ("how-to/log-in.md", "commodore login --api-url https://api.syn.example.com"),
    "logout": ("how-to/log-in.md", "commodore logout --all"),
    "observe": ("how-to/observe-kargo.md", "commodore observe plan"),
    "observe manifests": (
        "how-to/observe-kargo.md",
        "commodore observe manifests --image registry.example.com/observe:0.1.0",
    ),
    "observe once": ("how-to/observe-kargo.md", "commodore observe once --dry-run"),
    "observe plan": (
        "how-to/observe-kargo.md",
        "commodore observe plan objects/",
        "commodore observe plan --namespace shop -o yaml",
    ),
    "observe run": ("how-to/observe-kargo.md", "commodore observe run --namespace shop"),
    "package": ("how-to/author-a-component.md", "commodore package new my-package"),
    "package compile": (
        "tutorial/first-package.md",
        "commodore package compile . tests.defaults",
    ),
    "package new": ("tutorial/first-package.md", "commodore package new my-package --owner my-org"),
    "package sync": ("how-to/sync-templates.md", "commodore package sync packages.yml --dry-run"),
    "package test": (
        "reference/golden-tests.md",
        "commodore package test .",
        "commodore package test . --case defaults --update",
    ),
    "package update": ("tutorial/first-package.md", "commodore package update ."),
    "tool": ("how-to/install-tools.md", "commodore tool install --missing"),
    "tool install": (
        "how-to/install-tools.md",
        "commodore tool install --missing",
        "commodore tool install helm --version 3.19.0",
    ),
    "tool list": ("how-to/install-tools.md", "commodore tool list"),
    "tool uninstall": ("how-to/install-tools.md", "commodore tool uninstall helm"),
    "tool upgrade": ("how-to/install-tools.md", "commodore tool upgrade --all"),
    "trust": ("reference/trust-policy.md", "commodore trust explain argocd"),
    "trust explain": ("reference/trust-policy.md", "commodore trust explain argocd"),
    "version": ("how-to/install-tools.md", "commodore version", "commodore version -o json"),
}


def examples_of(command: str) -> tuple[str, ...]:
    """Command lines as they are typed, with a comment perhaps.

    Args:
        command: its words, the program's name first.
    """
    return _entry(command)[1:]


def page_of(command: str) -> str:
    """Return the documentation page of a command."""
    return f"{_DOCUMENTATION}/{_entry(command)[0]}"


def _entry(command: str) -> tuple[str, ...]:
    return _TABLE.get(command.partition(" ")[2], ("reference/commands.md",))
