"""`fathom import` on a running Fathom: found when it returns, nothing doubled, and no pack for what was brought in."""

import json
from pathlib import Path

from tests.e2e.calls import client
from tests.e2e.conftest import Tenant

TURNS = (("user", "Minha alergia é a amendoim."), ("assistant", "Anotado, sem amendoim."), ("user", "Moro em Lisboa."))


def imported(tenant: Tenant, path: Path) -> dict[str, object]:
    who = ("--tenant", tenant.name, "--client", "web", "--user", "ana")
    ended = client(tenant.bootstrap, "import", str(path), "--json", *who)
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout.splitlines()[-1]))


def test_past_chats_are_found_once_and_a_question_of_today_finds_them(tenant: Tenant, tmp_path: Path):
    path = tmp_path / "chat.jsonl"
    said = [
        {"conversation_id": "past", "role": role, "content": text, "created_at": f"2024-05-01T10:0{number}:00Z"}
        for number, (role, text) in enumerate(TURNS)
    ]
    path.write_text("\n".join(map(json.dumps, said)))
    first = imported(tenant, path)
    assert (first["turns"], first["there"], first["left_out"]) == (3, 0, {})
    assert first["accepted_s"] is not None
    again = imported(tenant, path)
    assert (again["turns"], again["there"]) == (0, 3)

    body = {"role": "user", "content": "Qual é a minha alergia?", "conversation_id": "today", "client_id": "web"}
    pack = tenant.client().post("/messages?wait=pack", json=body, headers={"fathom-user": "ana"}).json()
    assert "amendoim" in pack["text"]
    for wait in ("wait=pack", "deep=true"):
        refused = tenant.client().post(f"/messages?{wait}", json={**body, "pack": False})
        assert (refused.status_code, "gets no pack" in refused.json()["detail"]) == (422, True)
