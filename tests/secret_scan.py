"""No secret in the repository: `python -m tests.secret_scan`; `--accept` where what it found is none.

Known are passwords that only tests use: `tests/secrets.json` names each by its file and hash.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

from detect_secrets import SecretsCollection
from detect_secrets.settings import transient_settings

from tests.checkout import ROOT

KNOWN = Path(__file__).with_name("secrets.json")
# What was found in each file, by a hash of its name and content: a whole scan takes a minute of CPU.
SCANNED = ROOT / ".cache" / "secrets.json"
# Not those of random-looking text: ids, digests and tables of weights are all over the repository.
PLUGINS = (
    "ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector",
    "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector", "JwtTokenDetector",
    "KeywordDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector",
    "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)  # fmt: skip
FILTERS = (
    "detect_secrets.filters.heuristic.is_indirect_reference",
    "detect_secrets.filters.heuristic.is_likely_id_string",
    "detect_secrets.filters.heuristic.is_not_alphanumeric_string",
    "detect_secrets.filters.heuristic.is_sequential_string",
    "detect_secrets.filters.heuristic.is_templated_secret",
)
# Lists of hashes, data and pages that are made: no place where anybody writes a secret, and long to read.
MADE = ("deploy/requirements/", "agents/core/weights/", "agents/legal/weights/",
        "bench/", "schemas/json/", "streams/edges/console/page/",
        "docs/benchmarks.json", "docs/openapi.json", "schemas/asyncapi.json")  # fmt: skip


def tracked() -> list[str]:
    """The files that are committed, or would be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in said.stdout.splitlines() if not name.startswith(MADE) and (ROOT / name).is_file()]


def found(names: Iterable[str], root: Path = ROOT) -> set[tuple[str, str, str]]:
    """File, kind and hash of what looks like a secret."""
    secrets = SecretsCollection(str(root))
    settings = {
        "plugins_used": [{"name": name} for name in PLUGINS],
        "filters_used": [{"path": path} for path in FILTERS],
    }
    with transient_settings(settings):
        for name in names:
            secrets.scan_file(name)
    return {(file, secret.type, secret.secret_hash) for file, secret in secrets}


def scanned(names: Sequence[str]) -> set[tuple[str, str, str]]:
    """What `found` finds in these files; those that it has scanned before are not read by it again."""
    rules = json.dumps([PLUGINS, FILTERS])
    digests = {name: sha256(f"{rules}{name}\0".encode() + (ROOT / name).read_bytes()).hexdigest() for name in names}
    known = json.loads(SCANNED.read_text()) if SCANNED.exists() else {}
    new = [name for name, digest in digests.items() if digest not in known]
    with ProcessPoolExecutor(2) as pool:
        secrets = set().union(*pool.map(found, (new[0::2], new[1::2])))
    results = {digest: known.get(digest) or [] for digest in digests.values()}
    for name, kind, secret in sorted(secrets):
        results[digests[name]].append([name, kind, secret])
    SCANNED.parent.mkdir(exist_ok=True)
    SCANNED.write_text(json.dumps(results))
    return {tuple(each) for rows in results.values() for each in rows}


def main(arguments: Sequence[str]) -> int:
    """0 where all that was found is known, else 1 with the files."""
    now = scanned(tracked())
    if "--accept" in arguments:
        KNOWN.write_text(json.dumps(sorted(now), indent=1) + "\n")
        return 0
    new = sorted(now - {(file, kind, digest) for file, kind, digest in json.loads(KNOWN.read_text())})
    for file, kind, _ in new:
        sys.stderr.write(f"{file}: looks like a secret ({kind})\n")
    if new:
        sys.stderr.write("take it out; where it is none: python -m tests.secret_scan --accept\n")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
