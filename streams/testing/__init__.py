"""All of Fathom in memory, for tests of assistants and of Fathom itself."""

from importlib.util import find_spec
from pathlib import Path

# Another distribution's package of the name would answer our imports, and fail somewhere inside them.
found = find_spec("agents")
if found is None or Path(str(found.origin)).parents[1] != Path(__file__).parents[2]:
    where = found.origin if found else "no place"
    raise ImportError(
        f"the package 'agents' at {where} is not Fathom's: openai-agents has one of that name; test with Fathom in "
        "an environment without it (the command fathom and fathom-client work beside it)"
    )
