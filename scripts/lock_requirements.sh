#!/usr/bin/env bash
# Writes requirements/*.txt: every package pinned with its hashes, no addresses.
set -eu
cd "$(dirname "$0")/.."
lock() { .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-header --no-annotate --no-emit-index-url -c requirements/constraints.in "$@"; }
lock requirements/uv.in -o requirements/uv.txt
extras=(--extra server --extra local --extra plots --extra mcp)
lock pyproject.toml "${extras[@]}" -o requirements/runtime.txt
lock requirements/build.in -o requirements/build.txt -c requirements/runtime.txt
lock pyproject.toml "${extras[@]}" --group dev -o requirements/dev.txt -c requirements/runtime.txt
lock requirements/extras.in -o requirements/extras.txt -c requirements/dev.txt
