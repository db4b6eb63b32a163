"""Make what follows from the code: schemas, AsyncAPI, the flow, the table of topics, types for other languages,
what the Helm chart deploys, dashboards, what is proven.

`python -m deploy.docs.generate` writes them; with `--check` it writes nothing, names what is stale and exits with 1.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from deploy.docs import asyncapi, chart, dashboards, examples, pages, proofs
from deploy.docs.types import golang, java, model, typescript
from schemas import json_schema
from schemas.topics import TOPICS
from streams.config import Settings
from streams.edges.http.app import api as app
from streams.kafka import topics_plan
from streams.topology import NAMED, STAGES

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = "schemas/json"


def documents(root: Path) -> dict[str, str]:
    """The expected text of every generated file, by its path."""
    made = {
        f"{SCHEMAS}/{json_schema.file_name(event)}": _json(json_schema.schema_of(event, topic))
        for topic in TOPICS
        for event in topic.events
    }
    made["schemas/asyncapi.json"] = _json(asyncapi.document(_sources(root)))
    made["docs/openapi.json"] = _json(app.document())
    made[chart.PATH] = _json(chart.plan())
    made["docs/topics.md"] = pages.topics_page(TOPICS, tuple(NAMED.values()))
    made["docs/flow.md"] = pages.flow_page(STAGES)
    made[proofs.PATH] = proofs.page(root)
    made |= {path: _json(content) for path, content in dashboards.documents().items()}
    types = model.wire_types()
    made |= {language.PATH: language.rendered(types) for language in (typescript, golang, java)}
    return made


def _sources(root: Path) -> asyncapi.Sources:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return asyncapi.Sources(
        stages=tuple(NAMED.values()),
        topics=TOPICS,
        plans=topics_plan.wanted(Settings.model_fields["partitions"].default),
        examples=examples.load(root / "schemas" / "examples"),
        version=project["version"],
    )


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def stale(root: Path, made: dict[str, str]) -> list[str]:
    """The generated files that are missing, outdated or obsolete; sorted."""
    differ = [path for path, text in made.items() if not _same(root / path, text)]
    return sorted([*differ, *_left_over(root, made)])


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


def _left_over(root: Path, made: dict[str, str]) -> list[str]:
    found = (path.relative_to(root).as_posix() for path in (root / SCHEMAS).glob("*"))
    return [path for path in found if path not in made]


def write(root: Path, made: dict[str, str]) -> None:
    """Write the generated files and delete obsolete ones."""
    for path in _left_over(root, made):
        (root / path).unlink()
    for path, text in made.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the command; exit code 0, or 1 when a check found stale files."""
    parser = argparse.ArgumentParser(prog="python -m deploy.docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; name what is stale")
    options = parser.parse_args(arguments)
    made = documents(root)
    changed = stale(root, made)
    if options.check:
        sys.stderr.writelines(f"stale: {path}\n" for path in changed)
        return 1 if changed else 0
    write(root, made)
    sys.stdout.writelines(f"made: {path}\n" for path in changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
