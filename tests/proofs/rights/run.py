"""Each group as its own user, with its rights; then without each in turn. Ends with what nobody missed.

python -m tests.proofs.rights.run [GROUP...]
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from streams.runtime import access
from streams.topology import GROUPS
from tests import counters
from tests.proofs.rights.memory import remembered
from tests.proofs.rights.site import Right, Site, handed, rights_of, site, user_of, worked


def missed(on: Site, group: str, right: Right) -> bool:
    """Whether the group cannot do its work without this right, and the broker says so."""
    user = user_of(group)
    on.give(user, [each for each in rights_of(access.of_group(group)) if each != right])
    on.forget(group, outputs=right[2] == "WRITE")
    known = on.refused(user)
    left = asyncio.run(worked(on, group))
    # Of a group, what is asked for first is where it is kept, which needs less than to read in it.
    return bool(left) and {refused[:2] for refused in on.refused(user) - known} == {right[:2]}


def record(what: str, tried: int, faults: int) -> None:
    """Hand on what was counted: of groups that do their work, or of rights that are missed when they are gone."""
    counters.record("B26", f"{what} on Apache Kafka", {"tried": tried}, {"wrong": faults})


def needed(group: str) -> list[Right]:
    """The rights that are tried: `Describe` comes with each of the others."""
    given = [right for right in rights_of(access.of_group(group)) if right[1] not in handed(group)]
    more = {right[:2] for right in given if right[2] != "DESCRIBE"}
    return [right for right in given if right[2] != "DESCRIBE" or right[:2] not in more]


def main(groups: Sequence[str]) -> int:
    unneeded, lacking = [], []
    with tempfile.TemporaryDirectory(prefix="fathom-rights-") as folder, site(Path(folder)) as on, remembered():
        for group in groups or GROUPS:
            on.give(user_of(group), rights_of(access.of_group(group)))
            left = asyncio.run(worked(on, group))
            refused = on.refused(user_of(group))
            print(f"{group}: {'works' if not left and not refused else f'left {left}, refused {refused}'}", flush=True)
            lacking += [group] if left or refused else []
            for right in needed(group):
                began = time.monotonic()
                noticed = missed(on, group, right)
                said = "missed" if noticed else "NOT MISSED"
                print(f"  {' '.join(right)}: {said}, {time.monotonic() - began:.0f} s", flush=True)
                unneeded += [] if noticed else [f"{group}: {' '.join(right)}"]
    record("groups with their rights", len(groups or GROUPS), len(lacking))
    record("rights taken away", sum(len(needed(group)) for group in groups or GROUPS), len(unneeded))
    print(f"\n{len(lacking)} groups lack a right; {len(unneeded)} rights are not needed")
    print("\n".join((*lacking, *unneeded)))
    return 1 if lacking or unneeded else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
