"""How two sides of a conflict are told to a model: who said which value of what, when, and whether it is settled."""

from datetime import datetime

from agents.core.language.messages import LANGUAGES, catalogue, message
from schemas.memory import ClaimAsserted

QUANTITY = "quantidade de "


def claimed(claim: ClaimAsserted, lang: str, *, after: ClaimAsserted | None = None) -> str:
    """A claim with its author and time; what it is about is left out where the side before has said it."""
    side = said(claim.author, claim.value, claim.asserted_at, lang)
    about = _about(claim, lang)
    return side if after is not None and _about(after, lang) == about else f"{about}: {side}"


def said(author: str, value: str, at: datetime, lang: str) -> str:
    """What a person or the assistant said, and when."""
    who = _told(lang, f"conflict.{author}")
    return _told(lang, "conflict.said", who=who, value=value, at=f"{at:%Y-%m-%d %H:%M}")


def written(title: str, value: str, lang: str, text: str | None = None) -> str:
    """What a document says; with the sentence that says it where the value alone would not be understood."""
    stated = _told(lang, "conflict.written", title=title, value=value)
    return stated if text is None else f'{stated} ("{text}")'


def sides(*told: str, lang: str, resolved: bool = False) -> str:
    """Both sides in one line, and whether they are reconciled."""
    outcome = _told(lang, "conflict.reconciled" if resolved else "conflict.pending")
    return f"{'; '.join((*told, outcome))}."


def _told(lang: str, key: str, **values: str) -> str:
    return message(_language(lang), key, **values)


def _language(lang: str) -> str:
    return lang if lang in LANGUAGES else "en"


def _about(claim: ClaimAsserted, lang: str) -> str:
    return f"{claim.subject} ({_attribute(claim.attribute, lang)})"


def _attribute(attribute: str, lang: str) -> str:
    """The vocabulary of attributes is Portuguese; names are told in the language of the message."""
    if attribute.startswith(QUANTITY):
        return _told(lang, "conflict.quantity", unit=attribute.removeprefix(QUANTITY))
    return str(catalogue(_language(lang)).get(f"attribute.{attribute}", attribute))
