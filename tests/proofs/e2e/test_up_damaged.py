"""A data directory with a damaged file starts: what the log has is made again, the rest is kept, and both are told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.processes import UNHURRIED, running
from tests.e2e.processes import fathom as command
from tests.proofs.e2e.test_up_outdated_index import fathom, found

MANUAL = "# Moinho\n\nO moinho de café Turma 300 tem garantia de dezoito meses.\n"
QUESTION, ANSWER = "Qual a garantia do moinho Turma 300?", "dezoito meses"


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite(path: Path) -> None:
    path.write_bytes(b"\x17" * path.stat().st_size)


def ready_of(address: str) -> dict[str, Any]:
    return dict(httpx.get(f"http://{address}/health/ready").json())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that knows a manual, ended in order."""
    place = tmp_path_factory.mktemp("written")
    manual = place / "moinho.md"
    manual.write_text(MANUAL)
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **UNHURRIED) as process:
        broker = process.ready()["bootstrap"]
        fathom("ingest", str(manual), "--broker", broker)
        assert ANSWER in json.dumps(found(broker, QUESTION, ANSWER), ensure_ascii=False)
        assert process.end()[0] == 0
    return place / "data"


@pytest.mark.parametrize(
    ("store", "file", "damage"),
    [
        ("graph", "graph.sqlite", halve),
        ("index", "semantic/edge_config.json", overwrite),
        ("valkey", "appendonlydir/appendonly.aof.manifest", overwrite),
    ],
)
def test_a_damaged_store_is_set_aside_and_filled_again_from_the_log(
    written: Path, tmp_path: Path, store: str, file: str, damage: Callable[[Path], None]
) -> None:
    damage(written / store / file)
    with running("up", "--data", str(written), "--port", "0", stderr=tmp_path / "err", **UNHURRIED) as process:
        ready = process.ready()
        assert "store.damaged" in process.said()
        pack = found(ready["bootstrap"], QUESTION, ANSWER)
        assert ANSWER in json.dumps(pack["semantic"], ensure_ascii=False)
        [aside] = written.glob(f"{store}.damaged-*")
        assert ready_of(ready["http"])["damaged"] == [str(aside)]
        assert damage_of(written) == f"set aside: {aside}"
        assert process.end()[0] == 0
    with running("up", "--data", str(written), "--port", "0", stderr=tmp_path / "err", **UNHURRIED) as process:
        process.ready()
        assert "store.damaged" not in process.said()
        assert process.end()[0] == 0
    aside.rename(tmp_path / "looked at")


def damage_of(data: Path) -> str:
    """What `fathom doctor` says of damage; other findings are of no interest here."""
    said = command("doctor", "--broker", f"embedded://{data}", "--json").stdout
    [check] = [each for each in json.loads(said)["checks"] if each["id"] == "damaged"]
    assert check["state"] == "warn"
    return str(check["seen"])


def test_a_damaged_record_of_the_log_is_told_until_somebody_removes_what_is_left_of_it(
    written: Path, tmp_path: Path
) -> None:
    [path] = (written / "broker" / "logs").glob("documents.in-*/*.log")
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(raw)
    for already in (False, True):
        with running("up", "--data", str(written), "--port", "0", stderr=tmp_path / "err", **UNHURRIED) as process:
            ready = process.ready()
            [kept] = path.parent.glob("*.damaged")
            assert (f"{path} is damaged at byte 0" in process.said()) is not already
            assert str(kept) in process.said()
            assert ready_of(ready["http"])["damaged"] == [str(kept)]
            # What was made of it is in the stores.
            pack = found(ready["bootstrap"], QUESTION, ANSWER)
            assert ANSWER in json.dumps(pack["semantic"], ensure_ascii=False)
            assert process.end()[0] == 0
    assert damage_of(written) == f"set aside: {kept}"
    kept.unlink()
