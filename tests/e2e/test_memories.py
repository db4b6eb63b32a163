"""Single memories of a running `fathom up`: over HTTP and by the command."""

import json
import time
from typing import Any

import httpx

from tests.e2e.calls import refused, taken, turn
from tests.e2e.conftest import OTHER_USER, WEB_ANA, Tenant, Up
from tests.e2e.processes import fathom

ASKED = {"query": "What is my locker code?"}


def check(client: httpx.Client, wanted: dict[str, str], **query: Any) -> None:
    """The values with their statuses, once they are these."""
    for _ in range(100):
        page = taken(client.get("/memories", params={"q": "locker", **query}), 200)["memories"]
        found = {each["value"]: each["status"] for each in page}
        if found == wanted:
            break
        time.sleep(0.2)
    assert found == wanted


def one(client: httpx.Client) -> str:
    [found] = taken(client.get("/memories", params={"q": "locker"}), 200)["memories"]
    return str(found["memory_id"])


def test_a_fact_is_listed_corrected_and_taken_back(tenant: Tenant) -> None:
    ana = tenant.client(WEB_ANA)
    turn(ana, "talk", "My locker code is 7781.")
    check(ana, {"7781": "holds"})
    old = one(ana)
    assert taken(tenant.client(OTHER_USER).get("/memories"), 200)["memories"] == []
    refused(tenant.client(OTHER_USER).delete(f"/memories/{old}"), 404)
    taken(ana.patch(f"/memories/{old}", json={"value": "9002"}), 202)
    check(ana, {"9002": "holds", "7781": "replaced"}, status="all")
    assert "meanwhile" in refused(ana.patch(f"/memories/{old}", json={"confirm": True}), 409)
    shown = taken(ana.get(f"/memories/{old}"), 200)
    assert ([each["value"] for each in shown["history"]], shown["edits"][0]["kind"]) == (["9002"], "corrected")
    assert "9002" in taken(ana.post("/search", json=ASKED), 200)["text"]
    taken(ana.delete(f"/memories/{one(ana)}"), 202)
    check(ana, {"7781": "holds"})
    taken(ana.delete(f"/memories/{old}"), 202)
    check(ana, {})
    for _ in range(20):
        text = taken(ana.post("/search", json=ASKED), 200)["text"]
        if "7781" not in text:
            break
        time.sleep(0.2)
    assert "7781" not in text


def test_the_command_adds_and_lists(up: Up, tenant: Tenant) -> None:
    """Of the default tenant: the command asks the `fathom up` of the directory."""

    def memory(*arguments: str) -> Any:
        return fathom("memory", *arguments, "--broker", f"embedded://{up.data}")

    user = f"eva-{tenant.name}"
    ended = memory("add", "Prefers tea \x1b[31mover coffee", "--user", user)
    assert ended.returncode == 0, ended.stderr
    for _ in range(50):
        ended = memory("list", "--user", user)
        if "tea" in ended.stdout:
            break
    assert "Prefers tea \\x1b[31mover coffee" in ended.stdout
    assert memory("show", "nothing").returncode == 1
    assert memory("add", " ").returncode == 2
    page = json.loads(memory("list", "--user", user, "--json").stdout)
    assert [each["status"] for each in page["memories"]] == ["holds"]
