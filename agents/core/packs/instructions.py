"""What the model is told, per level and language. The Portuguese texts of D3 and D4 are the seed's, byte for byte."""

from schemas.depth import DepthLevel

D3_SPECIAL = (
    "Identificar claim original",
    "Buscar evidências conflitantes",
    "Não defender posição anterior cegamente",
)
D4_SPECIAL = (
    "Reconhecer mudança de tema",
    "Manter apenas contexto de persona",
    "Iniciar nova âncora semântica",
)
SPECIAL: dict[DepthLevel, tuple[str, ...]] = {DepthLevel.D3: D3_SPECIAL, DepthLevel.D4: D4_SPECIAL}

_PT: dict[DepthLevel, tuple[str, ...]] = {
    DepthLevel.D0: ("Responder de forma direta e curta",),
    DepthLevel.D1: ("Continuar o assunto em curso", "Não repetir o que já foi estabelecido"),
    DepthLevel.D2: (
        "Explicar com base nas evidências deste contexto",
        "Citar a fonte de cada afirmação factual",
    ),
    DepthLevel.D3: (*D3_SPECIAL, "Reconhecer a correção e mostrar os dois lados até haver confirmação"),
    DepthLevel.D4: D4_SPECIAL,
}
_EN: dict[DepthLevel, tuple[str, ...]] = {
    DepthLevel.D0: ("Answer directly and briefly",),
    DepthLevel.D1: ("Continue the current subject", "Do not repeat what has been established"),
    DepthLevel.D2: (
        "Explain from the evidence in this context",
        "Cite the source of every factual statement",
    ),
    DepthLevel.D3: (
        "Identify the original claim",
        "Look for conflicting evidence",
        "Do not blindly defend the earlier position",
        "Acknowledge the correction and show both sides until one is confirmed",
    ),
    DepthLevel.D4: (
        "Acknowledge the change of subject",
        "Keep only the persona context",
        "Start a new semantic anchor",
    ),
}
_NOTHING_FOUND = {
    "pt": "A memória não tem nada sobre isto: não inventar; se depender de documentos ou conversas, dizer que não sabe",
    "en": "Memory holds nothing on this: do not invent; if it depends on documents or past talks, say you do not know",
}
_DEGRADED = {
    "pt": "Parte da memória não respondeu a tempo; não afirmar ausência do que não foi consultado: {}",
    "en": "Part of the memory did not answer in time; do not claim absence of what was not searched: {}",
}


def for_level(level: DepthLevel, lang: str, *, resets: bool = True) -> tuple[str, ...]:
    """The level's instructions in the message's language, Portuguese unless it is English (CF-43, REQ-CDC-015).

    A change of subject that does not reset is acknowledged, and nothing is to be forgotten.
    """
    told = (_EN if lang == "en" else _PT)[level]
    return told[:1] if level == DepthLevel.D4 and not resets else told


def degraded(missing: tuple[str, ...], lang: str) -> str:
    """What to say to the model when sections are missing."""
    return _DEGRADED["en" if lang == "en" else "pt"].format(", ".join(missing))


def nothing_found(lang: str) -> str:
    """What to say to the model when memory was searched and nothing in it answers."""
    return _NOTHING_FOUND["en" if lang == "en" else "pt"]
