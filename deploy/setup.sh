#!/bin/sh
# Make .venv with the pinned, hashed requirements. `setup.sh base` for running, `setup.sh dev` for tests and checks.
# A second run finds its mark and does nothing.
set -eu
cd "$(dirname "$0")/.."
need=${1:-base}
list="deploy/requirements/$need.txt"
mark=".venv/.done-$need"
# What was installed: the pinned packages, and the version that fathom says it is.
wanted() { cat "deploy/requirements/$1.txt"; grep '^version = ' pyproject.toml; }

if [ -f "$mark" ] && wanted "$need" | cmp -s - "$mark" && [ -x .venv/bin/fathom ]; then
    exit 0
fi
say() { printf 'setup: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

python=
for name in python3.13 python3.12 python3.11 python3; do
    if command -v "$name" >/dev/null 2>&1 && "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
        python=$name
        break
    fi
done
[ -n "$python" ] || stop "Python 3.11, 3.12 or 3.13 is needed and was not found. On Debian or Ubuntu: sudo apt-get install python3 python3-venv"

if ! .venv/bin/python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
    say "making .venv with $($python --version)"
    rm -rf .venv
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        # Debian and Ubuntu ship venv apart from Python.
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        as_root=
        if [ "$(id -u)" -ne 0 ]; then
            command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null && as_root="sudo -n" || \
                stop "the Python module venv is missing. Install it, then run this again: sudo apt-get install python$version-venv"
        fi
        say "installing python$version-venv (a Debian package that Python needs for .venv)"
        $as_root apt-get -qq update >/dev/null 2>&1 || true
        $as_root apt-get -qq install -y "python$version-venv" >/dev/null 2>&1 || \
            $as_root apt-get -qq install -y python3-venv >/dev/null 2>&1 || \
            stop "python$version-venv could not be installed; install it by hand, then run this again"
    fi
    "$python" -m venv .venv
fi
if [ ! -x .venv/bin/uv ]; then
    say "installing the installer (uv, pinned)"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/requirements/uv.txt
fi
say "installing $(grep -c == "$list") pinned packages of $list, hashes checked"
VIRTUAL_ENV=$PWD/.venv .venv/bin/uv pip install --quiet --require-hashes -r "$list"
say "installing fathom itself, from this folder"
VIRTUAL_ENV=$PWD/.venv .venv/bin/uv pip install --quiet --no-deps --no-build-isolation --editable .
wanted "$need" > "$mark"
[ "$need" = base ] || wanted base > .venv/.done-base
say "ready: .venv/bin/fathom"
