"""`fathom eval packs` on a system of its own: memory in, questions in, figures out."""

import json
from pathlib import Path
from typing import Any

from tests.e2e.processes import fathom


def test_questions_on_own_documents_and_talks_are_measured_end_to_end(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "id": "c",
        "source": "own",
        "group": "g",
        "lang": "en",
        "documents": [
            {"id": "kettle", "text": "The kettle holds 1.7 litres and is filled through the spout, never by the lid."},
            {"id": "lamp", "text": "The lamp is fixed to the wall with two screws, a bracket and some patience."},
        ],
        "queries": [
            {"id": "q1", "text": "Explain how the kettle is filled", "category": "k", "relevant": ["kettle"]},
            {"id": "q2", "text": "Explain how the lamp is fixed", "category": "k", "relevant": ["lamp"]},
            {"id": "q3", "text": "Explain again how the kettle is filled", "category": "k", "relevant": ["kettle"]},
        ],
    }
    source, html, packs = tmp_path / "given.jsonl", tmp_path / "page.html", tmp_path / "packs.jsonl"
    source.write_text(json.dumps(given))
    # Two seconds apart the first question is long indexed when the third is asked; alone, it is not found all the same.
    asked = ("eval", "packs", str(source), "--up", "--alone", "--rate", "0.5")
    ended = fathom(*asked, "--json", "--html", str(html), "--packs", str(packs))
    assert ended.returncode == 0, ended.stderr
    figures = json.loads(ended.stdout)["datasets"]["own"]
    assert (figures["questions"], figures["missing"], figures["degraded"]) == (3, 0, 0)
    assert figures["any"]["value"] == 1.0
    assert figures["baselines"]["bm25"]["any"]["n"] == 3
    assert "<svg" in html.read_text()
    made = [json.loads(line)["pack"] for line in packs.read_text().splitlines()]
    assert [pack["query"] for pack in made] == [query["text"] for query in given["queries"]]
    assert given["queries"][0]["text"] not in json.dumps({**made[2], "query": ""})
