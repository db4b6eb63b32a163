"""The panels of the dashboards, the work that fills them, and the page of metrics that they read."""

import json
import time
from collections.abc import Mapping
from uuid import uuid4

import httpx

from deploy.docs.examples import load
from schemas.topics import ASSESSMENTS_IN, TOOLS_CALLS_IN
from tests.builders import promql
from tests.builders.deep_answers import LAW, QUESTION
from tests.checkout import ROOT
from tests.e2e.calls import MARKDOWN, produce, taken, turn

# What has a series only once something is wrong, or once a language model is asked.
IN_TROUBLE = {"fathom_overload_messages_total", "fathom_retries_total", "fathom_llm_calls_total"}
WAIT_S = 90.0
QUERIES = [
    (f"{board}: {panel['title']}", target["expr"].replace("$__rate_interval", "1m"))
    for board in ("operator", "analyst")
    for panel in json.loads((ROOT / f"deploy/grafana/{board}.json").read_text())["panels"]
    for target in panel["targets"]
]


def work(client: httpx.Client, broker: str) -> None:
    """A talk with a contradiction, a correction and a rating; a deep answer; calls, an assessment, and rubbish."""
    taken(client.post("/documents?wait=visible&document_id=clt", content=LAW, headers=MARKDOWN), 200)
    first = turn(client, "c1", "The price of the Kestrel is 40 euros.")
    turn(client, "c1", "Noted.", role="assistant", answers=first["message_id"])
    pack = turn(client, "c1", "No, the price of the Kestrel is 45 euros.")
    [claim] = [each for each in pack["claims"]["user_claims"] if each["value"] == "45 euros"]
    fixed = {"claim_id": claim["claim_id"], "text": "It is 50 euros.", "new_value": "50 euros"}
    taken(client.post("/corrections", json=fixed, headers={"fathom-user": "bia"}))
    rated = {"message_id": first["message_id"], "conversation_id": "c1", "client_id": "web", "rating": 4}
    taken(client.post("/feedback", json=rated))
    asked = {"question": QUESTION, "conversation_id": str(uuid4()), "client_id": "web"}
    taken(client.post("/ask?deep=true", json=asked, headers={"fathom-user": "ana"}), 200)
    for example in load(topics=[ASSESSMENTS_IN, TOOLS_CALLS_IN]):
        produce(broker, example.topic.name, example.key.encode(), example.raw)
    produce(broker, "messages.in", b"k", b"no json")


def page_of(address: str) -> str:
    return httpx.get(f"http://{address}/metrics", timeout=10).text


def lacking_series(page: str) -> dict[str, list[str]]:
    """What each panel asks for that no series of a page has."""
    series: list[tuple[str, Mapping[str, str]]] = list(promql.series_of(page))
    return {
        title: missing
        for title, query in QUERIES
        if (
            missing := [
                str(each)
                for each in promql.selectors(query)
                if each.name not in IN_TROUBLE
                and not any(name == each.name and each.takes(labels) for name, labels in series)
            ]
        )
    }


def until_whole(address: str) -> str:
    """The page once background stages have done their part; the last one that was read if they do not."""
    deadline = time.monotonic() + WAIT_S
    while lacking_series(page := page_of(address)) and time.monotonic() < deadline:
        time.sleep(0.5)
    return page
