"""The HTTP interface of a running `fathom up`: the loop of memory closed without Kafka and without the command."""

import json
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.builders.pdf import pdf
from tests.e2e.calls import MARKDOWN, refused, taken, turn
from tests.e2e.conftest import OTHER_USER, Tenant, Up
from tests.e2e.processes import fathom


@pytest.fixture(scope="module")
def client(tenant: Tenant) -> httpx.Client:
    return tenant.client()


def until(client: httpx.Client, question: str, found: Any) -> Any:
    """The pack of a question, in a new conversation each time, once it is as wanted: learning takes its time."""
    for _ in range(40):
        pack = turn(client, str(uuid4()), question)
        if found(pack):
            return pack
    raise AssertionError(pack)


@pytest.mark.covers("S1-30")
def test_the_loop_closes_from_message_to_correction(client: httpx.Client):
    first = turn(client, "c1", "O prazo do contrato Atlas é dia 15.")
    assert (first["user_id"], first["conversation_id"]) == ("ana", "c1")

    answered = turn(client, "c1", "Anotado: dia 15.", role="assistant", answers=first["message_id"])
    assert answered["topic"] == "messages.in"
    again = turn(client, "c1", "E o que eu disse antes?")
    assert "Anotado: dia 15." in str(again["working_set"])

    rated = {"message_id": first["message_id"], "conversation_id": "c1", "client_id": "web", "rating": 4}
    assert taken(client.post("/feedback", json=rated))["pack_id"] == first["pack_id"]

    question = "Explica o que sabemos sobre o prazo do contrato Atlas."
    known = until(client, question, lambda pack: "dia 15" in str(pack["semantic"]["definitions"]))
    [claim] = [each for each in known["semantic"]["definitions"] if "dia 15" in str(each)]
    fixed = {"claim_id": claim["id"], "text": "Mudou.", "new_value": "dia 20"}
    assert taken(client.post("/corrections", json=fixed, headers={"fathom-user": "bia"}))["event_id"]
    disputed = "Não, isso não está certo: o prazo do contrato Atlas é outro."
    both = until(client, disputed, lambda pack: "dia 20" in str(pack.get("claims")))
    assert "dia 15" in str(both["claims"])

    shown = taken(client.get("/conversations/c1", params={"client_id": "web"}), 200)
    assert [each["role"] for each in shown["turns"]] == ["user", "assistant", "user"]
    assert [each["message_id"] for each in shown["decisions"]] == [first["message_id"], again["message_id"]]
    assert shown["complete"] is True
    assert taken(client.get(f"/packs/{first['message_id']}"), 200) == first


def test_a_claim_is_corrected_as_soon_as_its_pack_is_there(client: httpx.Client):
    conversation = str(uuid4())
    turn(client, conversation, "The price of the Kestrel is 40 euros.")
    pack = turn(client, conversation, "No, the price of the Kestrel is 45 euros.")
    [claim] = [each for each in pack["claims"]["user_claims"] if each["value"] == "45 euros"]
    fixed = {"claim_id": claim["claim_id"], "text": "It is 50 euros.", "new_value": "50 euros"}
    assert taken(client.post("/corrections", json=fixed, headers={"fathom-user": "bia"}))["event_id"]


def test_a_document_is_found_once_it_is_said_to_be_visible(client: httpx.Client):
    text = "# Warranty\n\nThe warranty of the Barista 300 is 24 months."
    said = taken(client.post("/documents?wait=visible&lang=en", content=text, headers=MARKDOWN), 200)
    assert said["visible"] is True
    pack = turn(client, str(uuid4()), "Explain the warranty of the Barista 300.")
    assert "24 months" in str(pack["semantic"])
    assert said["document_id"] in str(pack["semantic"])


def test_a_pack_is_the_text_for_a_prompt_where_markdown_is_wanted(client: httpx.Client):
    markdown = {"accept": "text/markdown"}
    body = {"question": "O que é o contrato Borealis?", "conversation_id": "text", "client_id": "web"}
    said = client.post("/ask", json=body, headers=markdown)
    assert (said.status_code, said.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    again = client.get(f"/packs/{said.headers['fathom-message-id']}", headers=markdown)
    assert again.text == said.text
    pack = taken(client.get(f"/packs/{said.headers['fathom-message-id']}"), 200)
    assert said.text == pack["text"]
    named = {name: said.headers[name] for name in ("fathom-pack-id", "fathom-depth", "fathom-tokens")}
    assert named == {
        "fathom-pack-id": pack["pack_id"],
        "fathom-depth": pack["depth_level"],
        "fathom-tokens": str(pack["total_tokens_estimated"]),
    }


def test_a_document_that_is_deleted_is_found_no_more(client: httpx.Client):
    text = "# Parking\n\nThe parking garage Zephyr closes at midnight."
    said = taken(client.post("/documents?wait=visible&lang=en", content=text, headers=MARKDOWN), 200)
    question = "Explain when the parking garage Zephyr closes."
    assert "midnight" in str(turn(client, str(uuid4()), question)["semantic"])
    assert taken(client.delete(f"/documents/{said['document_id']}"))["topic"] == "documents.in"
    until(client, question, lambda pack: "midnight" not in str(pack["semantic"]))
    assert "nosuch" in refused(client.delete("/documents/nosuch"), 404)


def test_the_command_forgets_a_document_too(client: httpx.Client, tenant: Tenant):
    text = "# Canteen\n\nThe canteen Borealis serves soup on Mondays."
    said = taken(client.post("/documents?wait=visible&lang=en", content=text, headers=MARKDOWN), 200)
    done = tenant.fathom("forget", said["document_id"])
    assert (done.returncode, done.stderr) == (0, "")
    until(client, "Explain what the canteen Borealis serves.", lambda pack: "soup" not in str(pack["semantic"]))
    unknown = tenant.fathom("forget", "nosuch")
    assert unknown.returncode == 1
    assert "no document 'nosuch' was sent" in unknown.stderr


def test_documents_come_as_json_form_or_file(client: httpx.Client):
    as_json = {"text": "# Viagens\n\nO reembolso sai em 30 dias.", "document_id": "trips", "access": "internal"}
    assert taken(client.post("/documents", json=as_json))["document_id"] == "trips"
    file = {"file": ("viagens.pdf", pdf([[(20, "Viagens"), (11, "O reembolso sai em 30 dias.")]]), "application/pdf")}
    assert taken(client.post("/documents", files=file, data={"document_id": "p1"}))["document_id"] == "p1"
    page = "<html><body><h1>Horas</h1><p>Das nove às seis.</p></body></html>"
    assert taken(client.post("/documents?document_id=h1", content=page, headers={"content-type": "text/html"}))


def test_a_file_is_one_document_by_http_and_by_the_command(client: httpx.Client, tenant: Tenant, tmp_path: Path):
    path = tmp_path / "sauna.md"
    path.write_text("# Sauna\n\nThe sauna Vesper opens at seven.")
    sent = taken(client.post("/documents", files={"file": ("sauna.md", path.read_bytes(), "text/markdown")}))
    path.write_text("# Sauna\n\nThe sauna Vesper opens at nine.")
    again = taken(client.post("/documents", files={"file": ("sauna.md", path.read_bytes(), "text/markdown")}))
    typed = tenant.fathom("ingest", str(path), "--all", "--json")
    assert typed.returncode == 0, typed.stderr
    by_command = json.loads(typed.stdout.splitlines()[0])["document_id"]
    assert by_command == again["document_id"] == sent["document_id"]


def test_what_cannot_be_read_is_refused_with_its_reason(client: httpx.Client):
    scanned = {"file": ("scan.pdf", pdf([[]]), "application/pdf")}
    assert "document_empty: " in refused(client.post("/documents", files=scanned), 422)
    broken = {"file": ("x.pdf", b"%PDF-1.4 broken", "application/pdf")}
    assert "document_" in refused(client.post("/documents", files=broken), 422)
    archive = {"file": ("x.zip", b"PK\x03\x04", "application/zip")}
    assert "zip archive" in refused(client.post("/documents", files=archive), 415)
    assert "the part `file`" in refused(client.post("/documents", files={"other": ("a.md", b"x")}), 422)
    assert "Content-Type" in refused(client.post("/documents", content=b"x", headers={"content-type": "x/y"}), 415)
    foreign = client.post("/documents", json={"text": "Bonjour", "document_id": "fr", "lang": "fr"})
    assert refused(foreign, 422) == "lang: Input should be 'pt' or 'en'"
    assert "3,900,000 bytes" in refused(client.post("/documents", content=b"x" * 4_000_000, headers=MARKDOWN), 413)


def test_ids_that_do_not_exist_are_said_at_once(client: httpx.Client):
    rated = {"message_id": "nosuch", "conversation_id": "c1", "client_id": "web", "rating": 4}
    assert "no user's message 'nosuch'" in refused(client.post("/feedback", json=rated), 422)
    wrong = {"claim_id": "nope", "text": "Não."}
    said = refused(client.post("/corrections", json=wrong, headers={"fathom-user": "bia"}), 422)
    assert "there is no claim 'nope'" in said
    assert "Fathom-User" in refused(client.post("/corrections", json=wrong), 422)
    lost = {"role": "assistant", "content": "x", "answers": "nope", "conversation_id": "c1", "client_id": "web"}
    assert "no user's message 'nope'" in refused(client.post("/messages", json=lost), 422)
    assert "nosuch" in refused(client.get("/packs/nosuch"), 404)
    assert "nosuch" in refused(client.get("/conversations/nosuch"), 404)


def test_what_is_anothers_does_not_exist_for_a_token(client: httpx.Client, tenant: Tenant, stranger: Tenant):
    mine = turn(client, "private", "O código do cofre é 4711.")
    assert taken(client.post("/documents?document_id=vault", content="Um cofre.", headers=MARKDOWN))
    rated = {"message_id": mine["message_id"], "conversation_id": "private", "client_id": "web", "rating": 1}
    other_tenant, other_user = stranger.bearer(), tenant.bearer(OTHER_USER)
    for token in (other_tenant, other_user):
        assert client.get(f"/packs/{mine['message_id']}", headers=token).status_code == 404
        assert client.get("/conversations/private?client_id=web", headers=token).status_code == 404
    assert client.post("/feedback", json=rated, headers=other_tenant).status_code == 422
    assert client.delete("/documents/vault", headers=other_tenant).status_code == 404
    assert client.delete("/documents/vault", headers=other_user).status_code == 403
    assert taken(client.delete("/documents/vault"))


def test_a_profile_is_no_document_to_delete(client: httpx.Client):
    assert taken(client.put("/profiles/rui", json={"user_role": "x"}))
    assert client.delete("/documents/profile-rui").status_code == 404


def test_the_same_key_is_the_same_message(client: httpx.Client):
    body = {"role": "user", "content": "Bom dia!", "conversation_id": "keyed", "client_id": "web"}
    first, second = (taken(client.post("/messages", json=body, headers={"idempotency-key": "k"})) for _ in range(2))
    assert first == second
    other = client.post("/messages", json={**body, "content": "Boa noite!"}, headers={"idempotency-key": "k"})
    assert "used for something else" in refused(other, 422)
    capped = client.post("/messages", json=body, headers={"idempotency-key": "k", "fathom-tier": "minimal"})
    assert "used for something else" in refused(capped, 422)


def test_a_profile_is_put_and_read_by_the_next_pack(client: httpx.Client):
    body = {"user_role": "analista", "department": "Financeiro", "access_level": "internal"}
    assert taken(client.put("/profiles/ana", json=body))["user_id"] == "ana"
    for _ in range(40):
        pack = turn(client, str(uuid4()), "Bom dia!")
        if pack["persona_context"]["user_role"] == "analista":
            return
    raise AssertionError(pack)


def test_health_and_metrics_need_no_token_and_everything_else_does(client: httpx.Client):
    base = str(client.base_url)
    assert httpx.get(f"{base}/health/ready").status_code == 200
    assert httpx.head(f"{base}/metrics").status_code == 200
    described = httpx.get(f"{base}/docs")
    assert (described.status_code, "POST /ask" in described.text) == (200, True)
    for path in ("/openapi.json", "/ask", "/messages", "/packs/x", "/nosuch", "/"):
        assert httpx.get(f"{base}{path}").status_code == 401


def test_recorded_messages_are_answered_again_with_other_settings(up: Up, client: httpx.Client):
    talk = str(uuid4())
    for text in ("O cofre fica no terceiro andar.", "Onde fica o cofre?"):
        turn(client, talk, text)
    operator = {"authorization": f"Bearer {up.operator}"}
    again = {"settings": {"FATHOM_BUDGET_TOKENS": "7"}, "conversation_id": talk}
    assert "FATHOM_BUDGET_TOKENS" in refused(client.post("/operations/replays", json=again, headers=operator), 422)
    for name in ("FATHOM_LLM_URL", "FATHOM_NARRATOR", "FATHOM_TOOL_POLICY", "LOOK_UP", "X=1\nFATHOM_LOOK_UP", ""):
        assert refused(client.post("/operations/replays", json={"settings": {name: "x"}}, headers=operator), 422)
    assert client.post("/operations/replays", json={}).status_code == 403
    begun = client.post("/operations/replays", json={"conversation_id": talk}, headers=operator)
    assert begun.status_code == 202, begun.text
    replay_id = begun.json()["replay_id"]
    assert replay_id in refused(client.post("/operations/replays", json={}, headers=operator), 409)
    for _ in range(300):
        shown = client.get("/operations/replays", headers=operator).json()["replays"]
        [mine] = [each for each in shown if each["replay_id"] == replay_id]
        if mine["state"] != "running":
            break
        time.sleep(0.2)
    assert (mine["state"], mine.get("why")) == ("done", None)
    found = client.get(f"/operations/replays/{replay_id}", headers=operator).json()
    assert (found["compared"], found["only_replayed"]) == (2, 0)


def test_what_a_tenant_has_is_listed_and_a_document_shows_its_packs(up: Up):
    default = up.default()
    client = default.client()
    title = f"Guia {uuid4().hex[:8]}"
    text = f"# {title}\n\nO tampo de mármore pesa quarenta quilos."
    document_id = title.replace(" ", "-")
    assert taken(client.post(f"/documents?document_id={document_id}&title={title}", content=text, headers=MARKDOWN))
    talk = str(uuid4())
    for _ in range(40):
        pack = turn(client, talk, "Quanto pesa o tampo de mármore?")
        if pack.get("semantic"):
            break

    def shown(*arguments: str) -> Any:
        ended = fathom("list", *arguments, "--json", "--broker", f"embedded://{up.data}")
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    [listed] = shown("documents", document_id)["documents"]
    assert (listed["title"], listed["passages"]) == (title, 1)
    used = shown("uses", document_id)["uses"]
    assert {each["message_id"] for each in used} >= {pack["message_id"]}
    assert (used[0]["conversation_id"], used[0]["passages"]) == (talk, 1)
    [conversation] = [each for each in shown("conversations")["conversations"] if each["conversation_id"] == talk]
    assert conversation["title"] == "Quanto pesa o tampo de mármore?"
    assert pack["user_id"] in [each["user_id"] for each in shown("users")["users"]]
    assert shown("uses", "nosuch") == {"uses": [], "complete": True}
    plain = fathom("list", "documents", document_id, "--broker", f"embedded://{up.data}").stdout
    assert plain.split()[1:] == [document_id, "passages:", "1", *title.split()]
