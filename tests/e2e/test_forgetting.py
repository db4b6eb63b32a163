"""Conversations that are forgotten over HTTP and by command: whose they are, one at a time and all of a user."""

import json

from tests.e2e.conftest import WEB_ANA, WEB_EVA, Tenant, Up
from tests.e2e.vault import OTHER, SECRET, offered, talk, turn, until


def test_who_may_forget_what(up: Up, stranger: Tenant):
    tenant = up.tenant()
    client, beta, ana, eva = tenant.client(), stranger.token(), tenant.token(WEB_ANA), tenant.token(WEB_EVA)
    talk(client, "ours", SECRET)
    turn(client, "ours", "Também sei do cofre.", user="eva")
    turn(client, "mine", "O cofre é meu.", ana)
    for user in ("ana", "eva"):
        turn(client, "shared", "O cofre é nosso.", user=user)
    path = "/conversations/{}?client_id=web"
    for token, name, status in (
        *((beta, "ours", 404), (eva, "mine", 404), (ana, "nosuch", 404)),
        # Who takes part may erase, whoever else does.
        *((ana, "mine", 202), (eva, "shared", 202)),
    ):
        answer = client.delete(path.format(name), headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == status, (token, name, answer.text)
    assert client.delete("/conversations/ours?client_id=web&wait=x").status_code == 422
    assert client.delete("/conversations/ours?client_id=phone").status_code == 404
    assert client.delete("/conversations/ours?client_id=phone", headers=tenant.bearer(WEB_EVA)).status_code == 403
    once = tenant.fathom("forget", "--conversation", "ours", "--client", "web")
    assert (once.returncode, once.stderr) == (0, "")
    assert once.stdout.startswith("erased ours: 4 turns")
    unknown = tenant.fathom("forget", "--conversation", "nosuch", "--client", "web")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert f"there is no conversation 'nosuch' of client 'web' in tenant {tenant.name!r}" in unknown.stderr
    both = tenant.fathom("forget", "doc", "--user", "ana")
    assert both.returncode == 2
    assert "only one of them" in both.stderr


def test_all_conversations_of_a_user_are_forgotten_at_once(up: Up):
    tenant = up.tenant()
    client, eva = tenant.client(), tenant.token(WEB_EVA)
    for name in ("one", "two"):
        talk(client, name, SECRET)
    talk(client, "three", OTHER, "eva")
    until(lambda: SECRET in offered(client))
    would = tenant.fathom("forget", "--user", "ana", "--dry-run")
    assert (would.returncode, would.stderr) == (0, "")
    assert {"would erase one of client web", "would erase two of client web"} <= set(would.stdout.splitlines())
    assert SECRET in offered(client)
    nobody = tenant.fathom("forget", "--user", "nobody-here")
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert f"tenant '{tenant.name}' has no conversation of user 'nobody-here'" in nobody.stderr
    done = tenant.fathom("forget", "--user", "ana", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    names = {each["conversation_id"]: each["erased"]["turns"] for each in json.loads(done.stdout)["conversations"]}
    assert (names["one"], names["two"]) == (3, 3)
    assert "three" not in names
    assert SECRET not in offered(client)
    assert OTHER in offered(client, eva)
