"""One user's token against the conversation of another, over HTTP: 404 as for one that is not there, and no trace."""

from typing import Any

import httpx
import pytest

from tests.e2e.calls import question, refused, taken
from tests.e2e.conftest import WEB_ANA, WEB_EVA, Tenant

SECRET = "SALARYCANARY"
HERS = "7"


@pytest.fixture(scope="module")
def ana(tenant: Tenant) -> httpx.Client:
    return tenant.client(WEB_ANA)


@pytest.fixture(scope="module")
def eva(tenant: Tenant) -> httpx.Client:
    return tenant.client(WEB_EVA)


@pytest.fixture(scope="module")
def pack(ana: httpx.Client) -> Any:
    asked = question(f"My salary is {SECRET} 4711 euros.", HERS)
    return taken(ana.post("/ask", params={"wait": "pack"}, json=asked), 200)


def message(role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": "What was said before?", "conversation_id": HERS, "client_id": "web", **fields}


@pytest.mark.covers("B26", "B28")
def test_every_entry_that_takes_a_conversation_refuses_who_takes_no_part(eva: httpx.Client, pack: Any) -> None:
    rated = {"message_id": pack["message_id"], "conversation_id": HERS, "client_id": "web", "rating": 1}
    for answer in (
        eva.post("/ask", params={"wait": "pack"}, json=question("What was said before?", HERS)),
        eva.post("/messages", json=message()),
        eva.post("/messages", params={"wait": "pack"}, json=message()),
        eva.get(f"/conversations/{HERS}", params={"client_id": "web"}),
        eva.delete(f"/conversations/{HERS}", params={"client_id": "web"}),
    ):
        said = refused(answer, 404)
        assert said == f"there is no conversation '{HERS}' of client 'web'"
    assert "there is no conversation" in refused(eva.post("/feedback", json=rated), 422)
    for path in (f"/packs/{pack['message_id']}", f"/explain/{pack['message_id']}", f"/answers/{pack['message_id']}"):
        refused(eva.get(path), 404)
    refused(eva.get("/events", params={"message_id": pack["message_id"], "timeout": "1"}), 404)


def test_a_users_token_speaks_for_the_user_and_not_for_the_assistant(ana: httpx.Client, eva: httpx.Client) -> None:
    for client in (ana, eva):
        for role in ("assistant", "system"):
            assert "role user" in refused(client.post("/messages", json=message(role)), 403)


def test_its_owner_goes_on_reads_it_and_erases_it(ana: httpx.Client, eva: httpx.Client, pack: Any) -> None:
    again = taken(ana.post("/ask", params={"wait": "pack"}, json=question("And what was it?", HERS)), 200)
    assert SECRET in str(again["working_set"])
    shown = taken(ana.get(f"/conversations/{HERS}", params={"client_id": "web"}), 200)
    assert {turn["user_id"] for turn in shown["turns"]} == {"ana"}
    taken(ana.delete(f"/conversations/{HERS}", params={"client_id": "web", "wait": "erased"}), 200)
    refused(ana.get(f"/conversations/{HERS}", params={"client_id": "web"}), 404)
    # A conversation that was forgotten is free.
    free = taken(eva.post("/ask", params={"wait": "pack"}, json=question("Is it mine now?", HERS)), 200)
    assert SECRET not in str(free)


def test_an_application_lets_users_in_by_naming_them(tenant: Tenant, ana: httpx.Client, eva: httpx.Client) -> None:
    application = tenant.client()
    for user in ("ana", "eva"):
        body = message(content=f"{user} joins the group.", conversation_id="group")
        taken(application.post("/messages", json=body, headers={"fathom-user": user}))
    for client in (ana, eva):
        asked = taken(client.post("/ask", params={"wait": "pack"}, json=question("Who is here?", "group")), 200)
        assert "eva joins the group." in str(asked["working_set"])
    alone = message(content="The application's own.", conversation_id="own")
    taken(application.post("/messages", json=alone))
    refused(ana.post("/ask", params={"wait": "pack"}, json=question("What is it?", "own")), 404)
