"""What attackers get through the tool gate, by family, and what each layer of it holds back."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from tests import counters
from tests.attacks.ablation import LAYERS, without
from tests.attacks.attack import Attack
from tests.attacks.families import attacks
from tests.attacks.families_events import HIGH
from tests.attacks.honest import honest, served
from tests.attacks.limits import limits
from tests.attacks.playing import Desk


async def played(found: Iterable[Attack]) -> list[Attack]:
    """The attacks whose value got into a call that may be executed."""
    return [attack for attack in found if await Desk().play(attack)]


def split(found: Iterable[Attack]) -> tuple[int, int]:
    """How many are of high-risk tools, and how many of others."""
    high = [attack.tool in HIGH for attack in found]
    return sum(high), len(high) - sum(high)


def table(found: Sequence[Attack], through: Sequence[Attack]) -> list[str]:
    """A row for each family: attacks on high-risk tools and those through, the same of the others."""
    lines = ["| family | high-risk | through | others | through |", "|---|---|---|---|---|"]
    for family in dict.fromkeys(attack.family for attack in found):
        tried, passed = (split(each for each in those if each.family == family) for those in (found, through))
        lines.append(f"| {family} | {tried[0]} | {passed[0]} | {tried[1]} | {passed[1]} |")
    tried, passed = split(found), split(through)
    return [*lines, f"| **all {len(found)}** | {tried[0]} | **{passed[0]}** | {tried[1]} | **{passed[1]}** |"]


async def report() -> int:
    found = attacks()
    through = await played(found)
    print("\n".join(table(found, through)), "\n", flush=True)
    beyond = limits()
    print("\n".join(table(beyond, await played(beyond))), "\n")
    print("| layer taken out | family | high-risk through | others through |", "|---|---|---|---|", sep="\n")
    for name, layer in LAYERS.items():
        tried, passed = split(each for each in found if each.family == layer.family), split(await without(layer, found))
        print(f"| {name} | {layer.family} | {passed[0]} of {tried[0]} | {passed[1]} of {tried[1]} |", flush=True)
    calls = list(honest())
    kept, bare = await served(calls), await served(calls, protected=False)
    print(f"\nhonest calls: {sum(kept)} of {len(calls)} made as meant, {sum(bare)} without protections")
    lost = [each.kind for each, now, before in zip(calls, kept, bare, strict=True) if before and not now]
    print("lost:", dict(Counter(lost)), "\n")
    for attack in through[:20]:
        said = next((each.text for each in reversed(attack.events) if hasattr(each, "text")), "")
        print("THROUGH", attack.family, attack.channel, attack.tool, repr(attack.value), repr(said))
    high, others = split(through)
    ran = {"attacks": len(found), "families": len({attack.family for attack in found})}
    counters.record("B21", "tool gate", ran, {"high-risk through": high}, {"others through": others})
    return int(high > 0 or others * 100 > split(found)[1])


if __name__ == "__main__":
    logging.getLogger("fathom").setLevel(logging.CRITICAL)
    raise SystemExit(asyncio.run(report()))
