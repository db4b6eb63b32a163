"""An English user's tour, over the command, HTTP and MCP: nothing that is shown is Portuguese, no word and no field."""

import json
import re
from dataclasses import dataclass
from typing import Any, get_args

import httpx2
import pytest
from mcp import Client

from agents.core.language.messages import catalogue
from schemas.learning import CorrectionKind
from schemas.tools import ErrorCode
from schemas.topics import TOPICS
from tests.e2e.conftest import Up
from tests.e2e.mcp_clients import answered, stdio
from tests.e2e.processes import START_S, fathom

ENGLISH = {"data", "factual", "normal", "social", "original", "persona", "confirm", "formal"}
REFUNDS = "# Refunds\n\nThe team lead approves refunds up to 500 euros, the finance office above that.\n"
NO_CLAIM = "claim-of-nobody"


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d]{4,}", text.lower()))


def portuguese() -> set[str]:
    """Names that the contract has on topics, codes, and the words of the Portuguese texts."""
    fields = [field for topic in TOPICS for event in topic.events for field in event.model_fields.values()]
    names = {field.alias for field in fields if field.alias} | {*get_args(ErrorCode), *get_args(CorrectionKind)}
    said = {lang: words(" ".join(map(str, catalogue(lang).values()))) for lang in ("pt", "en")}
    return {name for name in names if len(name) > 3} | (said["pt"] - said["en"]) - ENGLISH


PORTUGUESE = portuguese() - ENGLISH


@dataclass
class Tour:
    """What a user does, and all that he is shown."""

    broker: str
    url: str
    token: str

    def shown(self, text: str) -> str:
        # These are constants of the contract: what a model reads stands in the pack's text and `llm_instructions`.
        text = re.sub(r'"special_instructions":\[[^]]*\]', "", text)
        found = {word for word in re.findall(r"[^\W\d][\w]*", text) if word.lower() in PORTUGUESE}
        assert not found, f"{sorted(found)} in {text}"
        return text

    def types(self, *arguments: str, code: int = 0) -> str:
        """A command, and what it prints."""
        named = {"FATHOM_BROKER": self.broker, "LANG": "en_US.UTF-8", "LC_ALL": "", "LC_MESSAGES": ""}
        done = fathom(*arguments, **named)
        assert done.returncode == code, done.stdout + done.stderr
        return self.shown(done.stdout + done.stderr)

    def posts(self, path: str, body: dict[str, Any], status: int = 200) -> str:
        headers = {"authorization": f"Bearer {self.token}", "fathom-user": "alex"}
        answer = httpx2.post(f"{self.url}{path}", json=body, headers=headers, timeout=START_S)
        assert answer.status_code == status, answer.text
        return self.shown(answer.text)


@pytest.fixture(scope="module")
def tour(up: Up, tmp_path_factory: pytest.TempPathFactory) -> Tour:
    """That of one who names no tenant."""
    place = tmp_path_factory.mktemp("tour")
    (place / "refunds.md").write_text(REFUNDS)
    made = Tour(up.bootstrap, up.url, up.default().token())
    made.types("ingest", str(place / "refunds.md"))
    return made


def test_the_guard_knows_what_it_looks_for(tour: Tour):
    for leak in ('{"nome_tool":"x"}', '{"preview":{"texto":"x"}}', "(contexto_ausente)", "Ferramenta desconhecida"):
        with pytest.raises(AssertionError):
            tour.shown(leak)


def test_a_question_an_assessment_and_a_correction(tour: Tour):
    patience = ("--timeout", str(START_S / 2))
    for as_json in ((), ("--json",)):
        tour.types("ask", "Who approves refunds?", *patience, *as_json)
        tour.types("assess", "Who approves refunds?", *as_json)
        tour.types("send", "The deadline of the project is day 15.", *as_json)
        tour.types("ask", "No, the deadline of the project changed to day 20.", *patience, *as_json)
        tour.types("ask", "Changing the subject: where is Lisbon?", *patience, *as_json)
        tour.types("correct", "It is day 20", "--user", "alex", "--claim", NO_CLAIM, *as_json, code=1)
        tour.types("correct", "x", "--user", "alex", "--claim", "k", "--type", "opinion", *as_json, code=2)


def test_tool_calls_by_command(tour: Tour):
    about = ("--conversation", "calls")
    tour.types("tool", "list")
    tour.types("tool", "list", "--json")
    tour.types("send", "Where is order ORD-1042?", *about)
    for number, as_json in enumerate(((), ("--json",))):
        waiting = ("tool", "call", "refund_order", "reason=late", "--call-id")
        tour.types("tool", "call", "get_order", *about, *as_json)
        tour.types("tool", "call", "get_order", "--conversation", "empty", *as_json, code=5)
        tour.types("tool", "call", "nosuchtool", "--conversation", "empty", *as_json, code=5)
        tour.types(*waiting, f"yes-{number}", *about, *as_json, code=5)
        tour.types("tool", "confirm", f"yes-{number}", *about, *as_json)
        tour.types(*waiting, f"no-{number}", *about, *as_json, code=5)
        tour.types("tool", "confirm", f"no-{number}", "--no", *about, *as_json, code=5)
        tour.types("tool", "confirm", "nosuchcall", *about, *as_json, code=1)
        tour.types("tool", "call", "", *about, *as_json, code=2)
        tour.types("tool", "result", "create_order", "--value", "order_id=ORD-7", *about, *as_json)
    resolved = json.loads(tour.types("tool", "call", "get_order", "include_items:=false", *about, "--json"))
    assert (resolved["tool_name"], resolved["status"]) == ("get_order", "resolved")
    assert resolved["arguments"] == {"include_items": False, "order_id": "ORD-1042"}
    refused = json.loads(tour.types("tool", "call", "refund_ordr", *about, "--json", code=5))
    assert (refused["error"], refused["error_code"]) == (
        "Unknown tool: refund_ordr. Did you mean refund_order?", "unknown_tool",
    )  # fmt: skip


def test_over_http(tour: Tour):
    question = {"question": "Who approves refunds?", "conversation_id": "h1", "client_id": "web"}
    tour.posts("/ask", question)
    tour.posts("/assess", {"query": "Who approves refunds?"})
    tour.posts("/assess", {}, 422)
    tour.posts("/corrections", {"text": "It is day 20", "claim_id": NO_CLAIM}, 422)
    tour.posts("/corrections", {"text": "x", "claim_id": "k", "kind": "opinion"}, 422)
    tour.posts("/corrections", {}, 422)
    tour.posts("/feedback", {}, 422)


def test_over_mcp(tour: Tour):
    async def story(client: Client) -> None:
        tools = await client.list_tools()
        tour.shown(tools.model_dump_json(exclude={"tools": {"__all__": {"output_schema"}}}))
        asked = {"conversation_id": "m1"}
        for name, arguments in (
            ("assess_context_needs", {"query": "Who approves refunds?"}),
            ("search_context", {"query": "Where is order ORD-1042?", **asked}),
            ("check_conflicts", {"subject": "deadline"}),
            ("resolve_tool_call", {"tool_name": "get_order", "conversation_id": "m2"}),
            ("resolve_tool_call", {"tool_name": "get_order", **asked}),
            ("resolve_tool_call", {"tool_name": "refund_order", **asked}),
            ("resolve_tool_call", {"tool_name": "nosuchtool", **asked}),
        ):
            found = await answered(client, name, **arguments)
            tour.shown(json.dumps(found, ensure_ascii=False))
            if name == "search_context":
                explained = await answered(client, "explain_pack", pack_id=found["pack_id"])
                tour.shown(json.dumps(explained, ensure_ascii=False))
        assert (found["status"], found["error_code"]) == ("error", "unknown_tool")

    stdio(tour.broker, story)


def test_a_portuguese_user_is_answered_in_portuguese_where_only_the_locale_tells_it(tour: Tour):
    for told in ({"LANG": "pt_BR.UTF-8"}, {"LANG": "en_US.UTF-8", "LC_ALL": "pt_PT"}):
        asked = ("tool", "call", "nosuchtool", "--conversation", "vazia", "--broker", tour.broker)
        clean = {"LC_ALL": "", "LC_MESSAGES": "", **told}
        assert "Ferramenta desconhecida: nosuchtool." in fathom(*asked, **clean).stdout
        assert "Unknown tool: nosuchtool." in fathom(*asked, "--lang", "en", **clean).stdout
