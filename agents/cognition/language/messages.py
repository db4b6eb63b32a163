"""The texts of deep answers, from the catalogue of their own package."""

from functools import partial

from agents.core.language import messages

PACKAGE = "agents.cognition.language"
message = partial(messages.message, package=PACKAGE)
