"""The memories that the measures of `tests/evidence` are taken on."""

from tests.evidence.conftest import embedder  # noqa: F401
from tests.evidence.test_deep_answers import answers, memories  # noqa: F401
from tests.evidence.test_packs import memory  # noqa: F401
