"""The types of events in TypeScript, Go and Java: each golden example is read and written again as it was."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deploy.docs import examples
from deploy.docs.types import model
from tests.builders import compilers
from tests.servers.install import InstallError

HERE = Path(__file__).parent
TYPES = model.wire_types()
RECORDS = {record.name: record for record in TYPES.records}
NAMES = {record.event: record.name for record in TYPES.records if record.event}
Lines = Sequence[tuple[str, Any]]
NEW = {"new_in_fathom_9": {"deep": [1, None, "<&>"]}}
PACK_EXAMPLE = ("context-packs.out", "d3-claims-pt")
PACK = "context.pack-assembled.v1"


def golden() -> Lines:
    """Every example, with its `ce_type`."""
    return [(example.received().event.TYPE, example.value) for example in examples.load()]


def with_new_fields(value: Any) -> Any:
    """The value as a newer Fathom may write it: with fields that nobody knows yet, also in its items."""
    if isinstance(value, list):
        return [with_new_fields(each) for each in value]
    if not isinstance(value, dict):
        return value
    more = NEW if "provenance" in value or "pack_id" in value else {}
    return {**{name: with_new_fields(each) for name, each in value.items()}, **more}


def with_new_words(value: Any) -> Any:
    """The value with texts that no enum has, and an item of an unknown kind."""
    item = {"type": "hologram", "id": "h1", "shape": {"faces": 6, "colour": None}}
    new = {"depth_level": "D7", "items": [*value.get("items", ()), item]}
    return {**value, **{name: word for name, word in new.items() if name in value}}


def bare(kind: str, value: Any) -> Any:
    """The value without its optional fields."""
    needed = {field.name for field in RECORDS[NAMES[kind]].fields if field.required}
    return {name: each for name, each in value.items() if name in needed}


VARIANTS: Mapping[str, Callable[[], Lines]] = {
    "golden": golden,
    "bare": lambda: [(kind, bare(kind, value)) for kind, value in golden()],
    "new-fields": lambda: [(kind, {**with_new_fields(value), **NEW}) for kind, value in golden()],
    "new-words": lambda: [
        (kind, with_new_words(value)) for kind, value in golden() if {"depth_level", "items"} & value.keys()
    ],
    "nulls": lambda: [
        ("chat.question-asked.v1", {"question": "q", "conversation_id": "c", "client_id": "w", "nickname": None}),
        ("chat.answer-given.v1", {"status": "ok", "results": None, "answer": "a", "meta": {
            "intent": None, "entity": None, "lang": "pt", "frame_id": "f"}}),
    ],
}  # fmt: skip


@cache
def go_program(folder: Path) -> Callable[[str], str]:
    shutil.copy(HERE / "roundtrip.go", folder / "main.go")
    go_module(folder)
    compilers.ran(compilers.go(), "build", "-o", "roundtrip", ".", folder=folder, environment=go_environment())
    return lambda given: compilers.ran(str(folder / "roundtrip"), given=given)


def go_module(folder: Path) -> None:
    module = f"module example\n\ngo 1.24\n\nrequire fathom v0.0.0\n\nreplace fathom => {compilers.CLIENTS / 'go'}\n"
    (folder / "go.mod").write_text(module)


def go_environment() -> dict[str, str]:
    """Nothing is fetched: there are no dependencies."""
    return {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}


@cache
def java_program(folder: Path) -> Callable[[str], str]:
    path = java_classes(folder, HERE / "RoundTrip.java")
    return lambda given: compilers.ran("java", "-cp", path, "RoundTrip", given=given)


def java_classes(folder: Path, program: Path) -> str:
    """The class path of a program with the types; they compile without a warning."""
    jars = compilers.java()
    sources = [str(path) for path in (compilers.CLIENTS / "java/src/main/java/fathom").glob("*.java")]
    compilers.ran("javac", "-Xlint:all", "-Werror", "-d", str(folder), "-cp", jars, *sources, str(program))
    return f"{folder}:{jars}"


PROGRAMS = {"go": go_program, "java": java_program}


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def written_again(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Lines], Any]:
    """What a language's program makes of events."""
    try:
        program = PROGRAMS[request.param](tmp_path_factory.mktemp(request.param))
    except InstallError as error:
        pytest.skip(str(error))

    def write(lines: Lines) -> Any:
        given = "".join(f"{kind}\t{json.dumps(value)}\n" for kind, value in lines)
        return [json.loads(line) for line in program(given).splitlines()]

    return write


def test_every_event_has_an_example() -> None:
    assert {kind for kind, _ in golden()} == NAMES.keys()


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_read_is_written_again_as_it_was(written_again: Callable[[Lines], Any], variant: str) -> None:
    given = VARIANTS[variant]()
    assert len(given) > 1
    for (kind, value), came in zip(given, written_again(given), strict=True):
        assert came == value, kind


def test_numbers_at_the_ends_of_their_ranges_stay(written_again: Callable[[Lines], Any]) -> None:
    [(kind, value)] = [(kind, value) for kind, value in golden() if kind == "tool.result.v1" and "linhas" in value][:1]
    rows = [{"large": 9_007_199_254_740_993, "small": 1e-12, "none": None, "yes": True, "text": "ç"}]
    [came] = written_again([(kind, {**value, "linhas": rows})])
    assert came["linhas"] == rows


# --- TypeScript ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles a module that stands beside the types, strictly; the module that came out."""
    try:
        compiler = compilers.tsc()
    except InstallError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copy(compilers.CLIENTS / "typescript/src/types.ts", folder)
    options = ["--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext"]

    def compiled(text: str) -> Path:
        (folder / "package.json").write_text('{"type": "module"}')
        (folder / "main.ts").write_text(text)
        compilers.ran(*compiler, *options, "--lib", "es2022,dom", "main.ts", folder=folder)
        return folder / "main.js"

    return compiled


@pytest.mark.parametrize("variant", ["golden", "bare", "new-words", "nulls"])
def test_every_example_is_of_its_type_in_typescript(typescript: Callable[[str], Path], variant: str) -> None:
    # Literals: a field that the type does not have is an error, as is one that is missing. Items of a kind that it does
    # not have are only told apart at run time.
    given = [(kind, value) for kind, value in VARIANTS[variant]() if "hologram" not in json.dumps(value)]
    consts = "".join(
        f"const e{n}: Events[{json.dumps(kind)}] = {json.dumps(value)};\n" for n, (kind, value) in enumerate(given)
    )
    names = ", ".join(f"e{n}" for n in range(len(given)))
    text = f'import type {{ Events }} from "./types.js";\n{consts}process.stdout.write(JSON.stringify([{names}]));\n'
    made = typescript(f"declare const process: {{ stdout: {{ write(text: string): void }} }};\n{text}")
    assert json.loads(compilers.ran("node", str(made))) == [value for _, value in given]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"pack_id": 5}, "'number' is not assignable to type 'string'"),
        ({"txet": "x"}, "txet.* does not exist"),
        ({"text": None}, "'null' is not assignable"),
        ({"working_set": {"recent_messages": [{"type": "chunk"}]}}, "is not assignable"),
    ],
)
def test_what_is_no_pack_is_an_error_in_typescript(
    typescript: Callable[[str], Path], wrong: dict[str, object], sentence: str
) -> None:
    value = {**next(value for kind, value in golden() if kind == PACK), **wrong}
    text = f'import type {{ ContextPack }} from "./types.js";\nexport const p: ContextPack = {json.dumps(value)};\n'
    with pytest.raises(AssertionError, match=sentence):
        typescript(text)


# --- the examples of the READMEs ----------------------------------------------------------------------------------


def d3_pack() -> Any:
    return next(one.value for one in examples.load() if (one.topic.name, one.name) == PACK_EXAMPLE)


def test_the_example_of_the_go_page_reads_a_pack(tmp_path: Path) -> None:
    try:
        compilers.go()
    except InstallError as error:
        pytest.skip(str(error))
    (tmp_path / "show.go").write_text(compilers.examples_of(compilers.CLIENTS / "go/README.md", "go")[0])
    (tmp_path / "main.go").write_text(
        'package main\n\nimport "os"\n\nfunc main() {\n\tvalue, _ := os.ReadFile("pack.json")\n'
        "\tif err := show(value); err != nil {\n\t\tpanic(err)\n\t}\n}\n"
    )
    (tmp_path / "pack.json").write_text(json.dumps(d3_pack()))
    go_module(tmp_path)
    assert_shown(compilers.ran("go", "run", ".", folder=tmp_path, environment=go_environment()))


def test_the_example_of_the_java_page_reads_a_pack(tmp_path: Path) -> None:
    main = (
        "\npublic class Main {\n    public static void main(String[] arguments) throws Exception {\n"
        "        Packs.show(java.nio.file.Files.readAllBytes(java.nio.file.Path.of(arguments[0])));\n    }\n}\n"
    )
    (tmp_path / "Main.java").write_text(compilers.examples_of(compilers.CLIENTS / "java/README.md", "java")[0] + main)
    (tmp_path / "pack.json").write_text(json.dumps(d3_pack()))
    try:
        path = java_classes(tmp_path / "classes", tmp_path / "Main.java")
    except InstallError as error:
        pytest.skip(str(error))
    assert_shown(compilers.ran("java", "-cp", path, "Main", str(tmp_path / "pack.json")))


def assert_shown(said: str) -> None:
    """Text, and the claims with their status, of the pack."""
    pack = d3_pack()
    assert pack["text"] in said
    sides = [*pack["claims"]["user_claims"], *pack["claims"]["system_claims"]]
    assert len(sides) > 1
    for claim in sides:
        assert f"{claim['author']}: {claim['text']} ({claim['status']})" in said
