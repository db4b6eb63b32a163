#!/bin/sh
# Make .venv-release, with the tools that build, describe and check a release. After `setup.sh dev`. A second run finds its
# mark and does nothing.
set -eu
cd "$(dirname "$0")/.."
list=deploy/requirements/release.txt
mark=.venv-release/.done
if [ -f "$mark" ] && cmp -s "$list" "$mark"; then
    exit 0
fi
printf 'setup: installing %s pinned packages of %s, hashes checked\n' "$(grep -c == "$list")" "$list" >&2
.venv/bin/uv venv --quiet --clear --python .venv/bin/python .venv-release
.venv/bin/uv pip install --quiet --python .venv-release/bin/python --no-deps --require-hashes -r "$list"
cp "$list" "$mark"
