# Each target is one script; what it needs is set up first, in .venv and .tools.
.DEFAULT_GOAL := help
.PHONY: help demo test check bench docs setup lock clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Compile the catalog of the example cluster
	@scripts/demo

test: ## Run the tests
	@scripts/test

check: ## Lint, formatting, types, architecture
	@scripts/check

bench: ## Say which measurements there are (scripts/bench NAME)
	@scripts/bench

docs: ## Build the documentation into docs/_build
	@scripts/docs

setup: ## Create .venv and .tools
	@scripts/setup

lock: ## Renew the locked requirements (needs uv)
	@scripts/lock

clean: ## Remove everything that was made here
	rm -rf .venv .tools .cache .tox .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist docs/_build
