"""Rights on a broker that gives none by itself: those of the plan are enough, and each is needed."""

import asyncio
import shutil
from collections.abc import Iterator

import pytest

from schemas.topics import AUDIT_HEADS, CONTEXT_PACKS, PACKS_PARTIAL
from streams.runtime import access
from streams.topology import GROUPS
from tests.proofs.rights.memory import remembered
from tests.proofs.rights.run import missed, needed, record
from tests.proofs.rights.serving import calls, sealed, switched
from tests.proofs.rights.site import Site, rights_of, site, user_of, worked
from tests.servers.install import lacking

# Of the pack path its groups and its state, of one that asks how far others are what it needs for that; SIZE=full tries
# all of all.
STATE = (PACKS_PARTIAL.name, CONTEXT_PACKS.name)
TRIED = [("depth", right) for right in needed("depth") if right[0] == "Group" or right[1] in STATE] + [
    ("learning", right) for right in needed("learning") if right[2] == "DESCRIBE"
]


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if (why := lacking("kafka")) is not None:
        pytest.skip(why)
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    with site(tmp_path_factory.mktemp("rights")) as made, remembered():
        for group in GROUPS:
            made.give(user_of(group), rights_of(access.of_group(group)))
        made.give(user_of("serve"), rights_of(access.of_serve()))
        made.give(user_of("seal"), rights_of(access.of_seal()))
        made.give(user_of("layout"), rights_of(access.of_layout()))
        yield made


@pytest.mark.covers("B26")
@pytest.mark.parametrize("group", GROUPS)
def test_with_the_rights_of_the_plan_a_group_does_all_its_work_and_asks_for_nothing_else(on: Site, group: str) -> None:
    left, refused = asyncio.run(worked(on, group)), on.refused(user_of(group))
    record("groups with their rights", 1, len(left | refused))
    assert (left, refused) == (set(), set())


@pytest.mark.covers("B26")
def test_with_its_rights_an_operator_switches_the_layout_and_back(on: Site) -> None:
    assert [switched(on, "split"), switched(on, "chained")] == [0, 0]
    assert on.refused(user_of("layout")) == set()


@pytest.mark.covers("B26")
def test_all_groups_and_callers_over_http_work_together_each_as_a_user_of_its_own(on: Site) -> None:
    said = asyncio.run(calls(on))
    assert said["POST /ask"] == 200
    assert {what: status for what, status in said.items() if status >= 500} == {}
    assert on.refused(user_of("serve")) == set()


@pytest.mark.covers("B26")
@pytest.mark.parametrize(("group", "right"), TRIED, ids=lambda each: each if isinstance(each, str) else " ".join(each))
def test_each_right_that_is_taken_away_is_missed(on: Site, group: str, right: tuple[str, str, str]) -> None:
    noticed = missed(on, group, right)
    record("rights taken away", 1, not noticed)
    assert noticed


@pytest.mark.covers("B26")
def test_with_its_rights_the_sealer_seals_and_without_each_of_them_it_does_not(on: Site) -> None:
    user, given = user_of("seal"), rights_of(access.of_seal())
    on.anew(AUDIT_HEADS.name)  # the golden head is of another log
    assert sealed(on) == 0
    assert on.refused(user) == set()
    for right in (each for each in given if each[2] != "DESCRIBE"):
        on.anew(AUDIT_HEADS.name)
        if right[1:] == (AUDIT_HEADS.name, "READ"):  # an empty topic needs no reader
            on.give(user, given)
            assert sealed(on) == 0
        on.give(user, [each for each in given if each != right])
        assert sealed(on) != 0, right
