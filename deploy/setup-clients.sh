#!/bin/sh
# Make .venv-clients, where the Python client is tested: the OpenAI Agents SDK is imported as `agents`, as our own package is.
# After `setup.sh dev`. A second run finds its mark and does nothing.
set -eu
cd "$(dirname "$0")/.."
list=deploy/requirements/clients.txt
mark=.venv-clients/.done
wanted() { cat "$list" clients/python/pyproject.toml; }

if [ -f "$mark" ] && wanted | cmp -s - "$mark"; then
    exit 0
fi
printf 'setup: installing %s pinned packages of %s, hashes checked\n' "$(grep -c == "$list")" "$list" >&2
.venv/bin/uv venv --quiet --clear --python .venv/bin/python .venv-clients
into() { .venv/bin/uv pip install --quiet --python .venv-clients/bin/python --no-deps "$@"; }
into --require-hashes -r "$list"
into --no-build-isolation --editable clients/python
wanted > "$mark"
