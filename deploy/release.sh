#!/bin/sh
# Build a release into dist/ (or the folder that is named): wheels of Fathom and of its Python client, sdist, bill of materials,
# checksums; and the image where a container engine answers. The same commit gives the same bytes. `release.sh FOLDER sbom` makes the bill of materials alone.
set -eu
cd "$(dirname "$0")/.."
out=${1:-dist}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
bin=.venv-release/bin
# The time of everything in the archives: that of the last commit; without git, the one that zip archives begin with.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
# Modes in archives are those of the files: a person's umask would be in them.
umask 022
mkdir -p "$out"
bill="$out/fathom-context-$version.cdx.json"

$bin/cyclonedx-py requirements --pyproject pyproject.toml --mc-type application --output-reproducible \
    --spec-version 1.6 --output-format JSON --output-file "$bill" deploy/requirements/base.txt
if [ "${2:-}" = sbom ]; then
    printf '%s\n' "$bill"
    exit 0
fi
rm -f "$out"/*.whl "$out"/*.tar.gz "$out"/SHA256SUMS
$bin/python -m hatchling build -t wheel -t sdist -d "$out" > /dev/null
python=$PWD/$bin/python packages=$(cd "$out" && pwd)
(cd clients/python && "$python" -m hatchling build -t wheel -d "$packages" > /dev/null)
(cd "$out" && sha256sum ./*.whl ./*.tar.gz ./*.cdx.json | sed 's| \./| |' > SHA256SUMS)
cat "$out/SHA256SUMS"

if docker info > /dev/null 2>&1; then
    docker build --quiet --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" --file deploy/Dockerfile --tag "fathom:$version" .
else
    echo "no container engine answers: no image was built (deploy/Dockerfile)" >&2
fi
