"""The labels, links and version guards of the graph: constant tables from which rows and Cypher texts are generated."""

from typing import Final

# Written once, by one event.
INSERTED: Final = ("Message", "CDCDecision", "AuditEvent", "Claim", "Correcao", "Consulta", "SubPergunta")
# Set at creation only: every decision refers to it, and would otherwise wait for its lock.
SHARED: Final = "QueryProfile"
# Identified by its id alone: created by links only.
WORD: Final = "Term"

# Written by many events; the greatest version wins: the property that holds the version.
VERSION: Final = {
    "Conversation": "last_at",
    "ConversationSummary": "to_seq",
    "Erasure": "up_to_seq",
    "Claim": "status_rank",
    "TimePoint": "recorded_at",
    "UserProfile": "recorded_at",
    "Objective": "recorded_at",
    "Document": "recorded_at",
    "Chunk": "recorded_at",
    "Concept": "recorded_at",
    "Knowledge": "recorded_at",
    "Process": "recorded_at",
    "Step": "recorded_at",
    "Tema": "recorded_at",
    "Entity": "recorded_at",
    "Processo": "recorded_at",
    "Jurisprudencia": "recorded_at",
    "Dispositivo": "recorded_at",
}
# Created by its own event and only changed by later versions, which do not have its time of creation.
INSERTED_FIRST: Final = ("Claim",)
# Retired by a version of their document that no longer contains them.
RETIRED: Final = ("Chunk", "Knowledge", "Concept", "Process")

# The labels at both ends of each kind of link; a type with several labels at its end has a kind for each: `TYPE:Label`.
LINK_ENDS: Final = {
    "IN_CONVERSATION": ("Message", "Conversation"),
    "FOR_MESSAGE": ("CDCDecision", "Message"),
    "USED_PROFILE": ("CDCDecision", "QueryProfile"),
    "MADE_IN": ("Claim", "Message"),
    "CONTRADICTS": ("Claim", "Claim"),
    "SUPERSEDES": ("Claim", "Claim"),
    "CORRECTS": ("Correcao", "Claim"),
    "CORRIGIDA_POR": ("Consulta", "Correcao"),
    "SUMMARIZES": ("ConversationSummary", "Conversation"),
    "HAS_EVENT": ("ConversationSummary", "TimePoint"),
    "PART_OF": ("Chunk", "Document"),
    "HAS_STEP": ("Process", "Step"),
    "HAS_OBJECTIVE": ("UserProfile", "Objective"),
    "MENTIONS": ("Chunk", "Entity"),
    "RELATED_TO": ("Concept", "Concept"),
    "HAS_TERM:Concept": ("Concept", "Term"),
    "HAS_TERM:Knowledge": ("Knowledge", "Term"),
    "HAS_TERM:Process": ("Process", "Term"),
    "HAS_TERM:Tema": ("Tema", "Term"),
    "ABOUT_THEME": ("Document", "Tema"),
    "SUBTEMA_DE": ("Tema", "Tema"),
    "TRATA_DE": ("Processo", "Tema"),
    "SOBRE_TEMA": ("Jurisprudencia", "Tema"),
    "RELACIONADO_A": ("Dispositivo", "Tema"),
    "DECOMPOSTA_EM": ("Consulta", "SubPergunta"),
    "FILHA_DE": ("SubPergunta", "SubPergunta"),
    "REUSED": ("Consulta", "Consulta"),
    "USA_NO:Processo": ("SubPergunta", "Processo"),
    "USA_NO:Dispositivo": ("SubPergunta", "Dispositivo"),
    "USA_NO:Jurisprudencia": ("SubPergunta", "Jurisprudencia"),
    "PENALIZA:Processo": ("Correcao", "Processo"),
    "PENALIZA:Dispositivo": ("Correcao", "Dispositivo"),
    "PENALIZA:Jurisprudencia": ("Correcao", "Jurisprudencia"),
    "PENALIZA:Chunk": ("Correcao", "Chunk"),
    "PENALIZA:SubPergunta": ("Correcao", "SubPergunta"),
}
# The types of links that have properties.
DESCRIBED: Final = (
    *("CONTRADICTS", "HAS_STEP", "PENALIZA"),
    *("ABOUT_THEME", "TRATA_DE", "SOBRE_TEMA", "RELACIONADO_A"),
)


def relation(kind: str) -> str:
    """The type of a kind of link, as stored in the graph."""
    return kind.partition(":")[0]


# What messages lead to: labels and kinds of links.
EVERYDAY: Final = (
    *("Message", "CDCDecision", "QueryProfile", "AuditEvent", "Claim"),
    *("Conversation", "ConversationSummary", "TimePoint"),
    *("IN_CONVERSATION", "FOR_MESSAGE", "USED_PROFILE", "SUMMARIZES", "HAS_EVENT"),
    *("MADE_IN", "CONTRADICTS", "SUPERSEDES"),
)
