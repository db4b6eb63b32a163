#!/bin/sh
# Compile the pinned, hashed requirements from pyproject.toml: no addresses in them, one file per need.
set -eu
cd "$(dirname "$0")/.."
compile() {
    out=$1; shift
    .venv/bin/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
        --python-version 3.11 "$@" -o "deploy/requirements/$out" pyproject.toml
}
compile base.txt --extra build
compile parquet.txt --extra parquet
compile otel.txt --extra build --extra otel
compile dev.txt --extra build --extra otel --extra test --extra dev --extra parquet
# Its tools alone: what they look at are the lists of the others.
sed -n '/^release = \[/,/^]/s/^ *"\([^"]*\)".*/\1/p' pyproject.toml > .release.in
printf 'hatchling==%s\n' "$(sed -n 's/^build = .*hatchling==\([0-9.]*\)".*/\1/p' pyproject.toml)" >> .release.in
.venv/bin/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
    -o deploy/requirements/release.txt .release.in
rm .release.in
.venv/bin/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
    --group clients/python/pyproject.toml:test -o deploy/requirements/clients.txt clients/python/pyproject.toml
printf 'uv==0.13.8\n' | .venv/bin/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
    --python-version 3.11 -o deploy/requirements/uv.txt -
.venv/bin/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
    -o deploy/requirements/peers.txt bench/peers/requirements.in
