"""Which package may know which: every arrow is stated here, and none beside these is drawn."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import pytest

from tests import rooms
from tests.unit.house import test_architecture as architecture
from tests.unit.house.test_architecture import Module, within

# A package and what it imports; `schemas` may be imported by all. Modules right under `agents` and `streams` are
# packages of their own here: `streams.config` is known to nearly all, `streams.topology` to few.
ARROWS: Mapping[str, str] = {
    "schemas": "",
    "agents.errors": "",
    "agents.concurrency": "agents.errors",
    "agents.core.caching": "",
    "agents.core.language": "agents.core.caching",
    "agents.core.conversation": "agents.core.caching agents.core.language",
    "agents.core.claims": "agents.core.caching agents.core.conversation agents.core.language",
    "agents.core.depth": "agents.core.caching agents.core.claims agents.core.conversation agents.core.language",
    "agents.core.documents": "agents.core.language agents.errors",
    "agents.core.progress": "agents.core.packs",
    "agents.core.tools": "agents.core.caching agents.core.conversation agents.core.language",
    "agents.core.quarantine": "",
    "agents.core.model_prompts": "agents.core.claims agents.core.conversation agents.core.language",
    "agents.core.retrieval": "agents.core.caching agents.core.claims agents.core.conversation agents.core.language",
    "agents.core.packs": "agents.core.caching agents.core.language agents.core.retrieval",
    "agents.core.assessment": """agents.core.caching agents.core.claims agents.core.conversation agents.core.depth
        agents.core.language agents.core.packs""",
    "agents.core.search": "agents.core.packs",
    # Law and deep answers: nothing knows them but `streams.extensions`, which does without them, too.
    "agents.legal": "agents.core.language",
    "agents.cognition.decomposition": "agents.core.language agents.legal",
    "agents.cognition.language": "agents.core.language",
    "agents.cognition.verification": "agents.cognition.language agents.core.caching agents.core.language agents.legal",
    "agents.cognition.core": """agents.cognition.decomposition agents.cognition.language agents.cognition.verification
        agents.core.documents agents.core.language agents.core.retrieval agents.errors agents.legal agents.ports""",
    "agents.cognition.core.prompts": """agents.cognition.core agents.cognition.decomposition agents.cognition.language
        agents.cognition.verification agents.core.language agents.legal""",
    "agents.cognition.progress": "agents.cognition.core agents.cognition.language agents.core.progress agents.ports",
    "agents.cognition": """agents.cognition.core agents.cognition.core.prompts agents.concurrency
        agents.core.retrieval agents.document_search agents.errors agents.ports agents.turn_search""",
    "agents.ports": "agents.core.conversation agents.core.documents agents.core.language",
    "agents.context": "agents.core.conversation agents.errors agents.ports",
    "agents.references": "agents.concurrency agents.errors agents.ports",
    "agents.erasures": "agents.core.conversation agents.ports",
    "agents.document_search": "agents.ports",
    "agents.access_levels": "agents.errors agents.ports agents.core.caching",
    "agents.turn_search": "agents.errors agents.ports agents.core.language agents.core.retrieval",
    "agents.scoped_memory": "agents.core.retrieval agents.core.search agents.ports",
    "agents.model_help": """agents.concurrency agents.core.assessment agents.core.claims agents.core.conversation
        agents.core.model_prompts agents.core.retrieval agents.ports""",
    "agents.second_opinion": """agents.concurrency agents.core.assessment agents.core.conversation agents.core.depth
        agents.model_help agents.ports""",
    "agents.retrievers": """agents.access_levels agents.concurrency agents.context agents.document_search agents.errors
        agents.model_help agents.ports agents.turn_search agents.core.claims agents.core.conversation
        agents.core.documents agents.core.language agents.core.packs agents.core.retrieval""",
    "agents.stages": """agents.concurrency agents.context agents.erasures agents.errors agents.model_help agents.ports
        agents.references agents.retrievers agents.scoped_memory agents.second_opinion agents.core.assessment
        agents.core.claims agents.core.conversation agents.core.depth agents.core.documents agents.core.language
        agents.core.packs agents.core.retrieval agents.core.search agents.core.tools""",
    "streams.config": "agents.core.packs agents.ports",
    "streams.policies": "agents.core.assessment agents.core.packs streams.config",
    "streams.dependencies": """agents.context agents.core.packs agents.core.quarantine agents.ports streams.config
        streams.documents streams.models""",
    "streams.quarantine": """agents.context agents.core.caching agents.core.conversation agents.core.packs
        agents.core.quarantine agents.core.retrieval agents.ports streams.dependencies streams.stores
        streams.stores.graph""",
    "streams.stage": "agents.ports streams.builders streams.dependencies streams.quarantine",
    "streams.extensions": "agents.core.documents agents.core.progress agents.ports streams.dependencies",
    "streams.builders": """agents.concurrency agents.core.assessment agents.core.packs agents.core.tools agents.ports
        agents.model_help agents.references agents.retrievers agents.second_opinion agents.stages streams.config
        streams.dependencies
        streams.extensions streams.policies streams.stores""",
    "streams.topology": "streams.stage",
    "streams.registry": "agents.errors",
    "streams.telemetry": "agents.core.caching streams.config streams.version",
    "streams.version": "",
    "streams.redaction": "",
    "streams.child_process": "",
    "streams.listening": "streams.config",
    "streams.web_pages": "streams.config streams.telemetry",
    "streams.documents": "agents.core.documents agents.core.language agents.errors streams.child_process",
    "streams.imports": "",
    "streams.models": "agents.errors agents.ports streams.config streams.stores streams.telemetry",
    "streams.stores": "agents.concurrency agents.core.caching agents.core.language agents.errors",
    "streams.stores.graph": """agents.concurrency agents.core.claims agents.core.conversation
        agents.core.language agents.errors agents.ports streams.config streams.stores streams.telemetry""",
    "streams.stores.graph.embedded": "agents.errors streams.stores streams.stores.graph",
    "streams.stores.passages": """agents.concurrency agents.core.caching agents.core.language agents.core.retrieval
        agents.errors agents.ports streams.child_process streams.stores""",
    "streams.stores.remote": """agents.errors agents.ports streams.stores streams.stores.graph
        streams.stores.graph.embedded streams.version""",
    "streams.stores.sessions": """agents.core.caching agents.core.conversation agents.errors streams.child_process
        streams.stores""",
    "streams.stores.seen": """agents.concurrency agents.errors streams.stores.graph streams.stores.passages
        streams.stores.sessions""",
    "streams.stores.keys": "agents.errors streams.config",
    "streams.encryption": "agents.core.caching streams.config streams.stores.keys",
    "streams.broker": "streams.child_process streams.kafka",
    "streams.kafka": """agents.concurrency agents.errors agents.core.caching streams.config streams.encryption
        streams.stores streams.telemetry streams.topology""",
    "streams.faust": "streams.kafka agents.errors",
    "streams.views": """agents.core.caching agents.core.conversation agents.core.depth agents.core.quarantine
        agents.core.tools agents.errors agents.ports streams.kafka streams.stores.sessions streams.telemetry""",
    "streams.runtime": """agents.concurrency agents.context agents.core.depth agents.core.language
        agents.core.quarantine agents.core.tools agents.errors agents.ports agents.stages streams.broker streams.config
        streams.dependencies streams.faust streams.kafka streams.listening streams.models streams.policies
        streams.runtime.admission streams.runtime.embedded streams.runtime.layout streams.stage streams.stores
        streams.stores.graph streams.stores.graph.embedded streams.stores.passages
        streams.stores.remote streams.stores.sessions streams.telemetry streams.topology streams.version
        streams.views streams.web_pages""",
    "streams.runtime.admission": "streams.kafka streams.telemetry",
    "streams.runtime.embedded": "streams.broker streams.telemetry",
    "streams.runtime.layout": """agents.errors streams.config streams.kafka streams.stage streams.telemetry
        streams.topology""",
    "streams.replay": """agents.core.caching agents.core.conversation agents.core.packs agents.core.progress
        agents.core.quarantine agents.errors agents.ports agents.stages streams.broker streams.config
        streams.dependencies streams.kafka streams.models streams.policies streams.redaction streams.runtime
        streams.stage streams.stores streams.stores.graph streams.stores.graph.embedded streams.stores.passages
        streams.stores.remote streams.stores.sessions streams.telemetry streams.topology streams.version
        streams.views""",
    "streams.audit": "agents.errors streams.kafka",
    "streams.explanations": """agents.core.packs agents.core.progress agents.core.quarantine agents.errors agents.ports
        streams.kafka streams.usage""",
    "streams.usage": "agents.core.quarantine streams.replay",
    "streams.redrive": "streams.replay streams.runtime",
    "streams.testing": """agents.context agents.core.conversation agents.core.quarantine streams.config
        streams.dependencies streams.faust streams.kafka streams.policies streams.runtime streams.stage
        streams.stores streams.stores.graph.embedded streams.stores.passages streams.stores.sessions
        streams.topology streams.views""",
    "streams.edges.console": "streams.web_pages",
    "streams.edges.client": """agents.core.assessment agents.core.depth agents.core.documents agents.core.packs
        agents.core.quarantine agents.errors agents.ports agents.stages streams.config
        streams.kafka streams.models streams.policies streams.runtime streams.telemetry""",
    "streams.edges.client.persons": """agents.core.conversation streams.edges.client streams.encryption streams.kafka
        streams.stores.keys""",
    "streams.edges.canary": "streams.edges.client streams.runtime.admission streams.telemetry",
    "streams.edges.audit": "agents.errors agents.ports streams.edges.client streams.explanations streams.kafka",
    "streams.edges.operations": """agents.core.claims agents.core.language agents.ports streams.edges.client
        streams.edges.http streams.kafka streams.replay streams.runtime streams.runtime.layout streams.stage
        streams.topology streams.config streams.child_process""",
    "streams.edges.cli.evaluation": "streams.edges.client",
    "streams.edges.cli.lists": "streams.edges.cli streams.edges.client streams.edges.operations",
    "streams.edges.cli.memory": "streams.edges.cli streams.edges.client streams.edges.operations",
    "streams.edges.cli.pages": "streams.edges.cli streams.edges.client",
    "streams.edges.http": """agents.core.caching streams.config streams.edges.client
        streams.listening streams.runtime streams.telemetry streams.version streams.web_pages""",
    "streams.edges.http.endpoints": """agents.core.documents agents.core.packs agents.errors agents.ports agents.stages
        streams.edges.audit streams.edges.client streams.edges.http streams.edges.operations streams.explanations
        streams.kafka""",
    "streams.edges.http.events": """agents.core.progress agents.ports streams.edges.client streams.edges.http
        streams.kafka streams.telemetry streams.extensions""",
    "streams.edges.http.openai": """agents.core.caching streams.config streams.edges.client streams.edges.http
        streams.policies streams.telemetry""",
    "streams.edges.http.app": """agents.ports agents.stages streams.config streams.documents streams.edges.canary
        streams.edges.client streams.edges.console streams.edges.http streams.edges.http.endpoints
        streams.edges.http.events streams.edges.http.openai streams.kafka streams.listening streams.runtime
        streams.telemetry streams.web_pages""",
    "streams.edges.mcp": """agents.core.claims agents.core.conversation agents.core.language agents.core.packs
        agents.ports agents.stages streams.config streams.edges.client streams.edges.console streams.edges.http
        streams.edges.operations streams.runtime streams.telemetry streams.version streams.web_pages""",
    # The command names the modules of its verbs in a table, `demo` among them, and imports none.
    "streams.edges.cli": """agents.core.caching agents.core.assessment agents.core.language agents.core.packs
        agents.errors streams.config streams.edges.cli.evaluation streams.edges.client streams.edges.client.persons
        streams.edges.console
        streams.edges.http streams.edges.http.app streams.edges.mcp streams.edges.operations streams.kafka
        streams.policies streams.redaction streams.registry streams.replay streams.runtime streams.stage
        streams.telemetry streams.topology streams.version""",
    "streams.edges.cli.audit": """agents.ports streams.audit streams.config streams.edges.audit streams.edges.cli
        streams.edges.client streams.edges.operations streams.explanations streams.kafka streams.listening
        streams.runtime streams.web_pages""",
    "streams.edges.cli.demo": """agents.core.documents streams.config streams.edges.cli streams.edges.client
        streams.policies streams.runtime streams.stores streams.telemetry streams.topology""",
    "streams.edges.cli.dlq": """streams.config streams.edges.cli streams.edges.client streams.kafka streams.redrive
        streams.replay streams.runtime streams.runtime.layout streams.topology""",
    "streams.edges.cli.cluster": """streams.config streams.edges.cli streams.edges.client streams.kafka
        streams.runtime.layout""",
    "streams.edges.cli.quarantine": """agents.core.quarantine streams.edges.cli streams.edges.client streams.replay
        streams.usage""",
    "streams.edges.cli.doctor": """agents.errors streams.config streams.edges.canary streams.edges.cli
        streams.edges.client streams.edges.operations streams.encryption streams.kafka streams.replay streams.runtime
        streams.stores.graph streams.stores.remote streams.stores.seen streams.topology""",
    "streams.edges.cli.search": "streams.edges.cli streams.edges.client streams.edges.operations",
    "streams.edges.cli.ingest": """agents.core.documents agents.errors agents.ports streams.documents streams.edges.cli
        streams.edges.client streams.imports streams.kafka streams.runtime""",
    "streams.edges.cli.replay": """agents.core.caching streams.config streams.dependencies streams.edges.cli
        streams.edges.client streams.edges.operations streams.kafka streams.replay streams.runtime
        streams.stores streams.views""",
    "streams.__main__": "streams.edges.cli streams.version",
}


def package_of(module: str) -> str:
    """The package of a module; one right under `agents` or `streams` is its own."""
    package = module.rpartition(".")[0]
    return module if package in ("agents", "streams") else package


def drawn(modules: Iterable[Module]) -> dict[str, set[str]]:
    """The packages that each package imports, as the sources are."""
    files = {module.name for module in modules}
    arrows: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        here = package_of(module.name)
        known = {package_of(name) for name in module.imports if name in files}
        arrows[here] |= {each for each in known if each not in (here, "schemas", "")}
    return arrows


def product() -> list[Module]:
    folders = {module.name.rpartition(".")[0] for module in architecture.product()}
    return [module for module in architecture.product() if module.name not in folders]


def stated() -> dict[str, set[str]]:
    return {package: set(known.split()) for package, known in ARROWS.items()}


def cycle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """A way from a package back to itself; none where there is no such way."""
    done: set[str] = set()

    def walk(package: str, way: tuple[str, ...]) -> list[str]:
        if package in way:
            return [*way[way.index(package) :], package]
        if package in done:
            return []
        for known in sorted(arrows.get(package, ())):
            if found := walk(known, (*way, package)):
                return found
        done.add(package)
        return []

    return next((found for package in sorted(arrows) if (found := walk(package, ()))), [])


def test_every_arrow_between_packages_is_stated() -> None:
    allowed = stated()
    found = [
        f"{package} -> {known}"
        for package, all_known in drawn(product()).items()
        for known in all_known
        if known not in allowed.get(package, ())
    ]
    assert found == []


def test_no_stated_arrow_is_missing_from_the_sources() -> None:
    """An arrow that nothing draws any more would let it be drawn again unseen."""
    arrows = drawn(product())
    missing = [
        f"{package} -> {known}"
        for package, all_known in stated().items()
        for known in all_known - arrows[package]
        if not any(rooms.is_left_out(each.replace(".", "/")) for each in (package, known))
    ]
    assert missing == []


def test_no_package_can_be_reached_from_itself() -> None:
    assert cycle(stated()) == []
    assert cycle(drawn(product())) == []


@pytest.mark.parametrize("edge", ["streams.edges.http", "streams.edges.mcp", "streams.edges.client"])
def test_no_other_edge_imports_the_command_line(edge: str) -> None:
    mine = [module for module in product() if within(module.name, edge)]
    assert mine
    assert [(m.name, i) for m in mine for i in m.imports if within(i, "streams.edges.cli")] == []


# --- the checks themselves -----------------------------------------------------------------------------------------


def _module(name: str, *imports: str) -> Module:
    return Module(name, imports, frozenset(), True)


def test_a_cycle_is_found() -> None:
    assert cycle({"a": ["b"], "b": ["c"], "c": ["b"]}) == ["b", "c", "b"]
    assert cycle({"a": ["b", "c"], "b": ["c"], "c": []}) == []


def test_arrows_are_read_from_imports_of_modules_and_of_names_in_them() -> None:
    modules = [_module("agents.core.depth.levels", "agents.core.language.text"), _module("agents.core.language.text")]
    assert drawn(modules)["agents.core.depth"] == {"agents.core.language"}
    assert drawn([_module("streams.audit.chain", "streams.config"), _module("streams.config")])["streams.audit"] == {
        "streams.config"
    }
