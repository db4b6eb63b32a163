#!/bin/sh
# Look for known faults of what is installed, in every list of requirements. Exit code 1 when there is one, and 4 when the
# service that knows them does not answer: with `--offline-ok` that is said, and is 0.
set -eu
cd "$(dirname "$0")/.."
failed=0
for list in base dev clients release; do
    said=$(.venv-release/bin/pip-audit --disable-pip --require-hashes --progress-spinner off --timeout "${AUDIT_TIMEOUT:-15}" \
        -r "deploy/requirements/$list.txt" 2>&1) && ended=0 || ended=$?
    case $said in
        # A mirror of the index without its advisories says so of each package, and that no fault is known.
        *"could not be audited"*) answered= ;;
        *Found*"known vuln"*) answered=yes ;;
        *) [ "$ended" = 0 ] && answered=yes || answered= ;;
    esac
    if [ -z "$answered" ]; then
        printf '%s\n' "$said" | grep -v '^[ -]*$' | tail -n 1 >&2
        echo "deploy/requirements/$list.txt: not audited, the advisory service did not answer; run this where it can be reached" >&2
        if [ "${1:-}" = --offline-ok ]; then exit 0; else exit 4; fi
    fi
    printf '== deploy/requirements/%s.txt\n%s\n' "$list" "$said"
    [ "$ended" = 0 ] || failed=1
done
exit "$failed"
