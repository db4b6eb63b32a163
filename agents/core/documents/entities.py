"""Named entities of a passage: people, organisations, acronyms by their capitals; and what it refers to, by a port."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agents.core.language.sentences import word_set
from agents.core.language.text import fold

MAX_ENTITIES = 20


@dataclass(frozen=True, slots=True)
class Entity:
    name: str
    kind: str


class DocumentReference(Protocol):
    """What a text refers to: a case, a ruling or a provision of a law; `name` is the same for every spelling."""

    @property
    def kind(self) -> Literal["processo", "jurisprudencia", "dispositivo"]: ...

    @property
    def name(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def court(self) -> str: ...

    @property
    def law(self) -> str: ...

    @property
    def article(self) -> str: ...


class DocumentEntities(Protocol):
    """A field of knowledge that finds what its documents refer to, such as law."""

    def __call__(self, text: str, /) -> Sequence[DocumentReference]:
        """The references of a text in order, every mention."""


def no_references(_: str, /) -> Sequence[DocumentReference]:
    """The references where no field of knowledge is registered."""
    return ()


_WORD = r"[A-ZÀ-Ý][a-zà-ÿ][\w’'-]*"
_NAME = re.compile(
    rf"(?P<title>\b(?:Dra?|Sra?|Exm[oa]|Profa?|Mrs?|Ms)\.\s+)?"
    rf"(?P<name>\b(?:{_WORD}|[A-Z]{{2,8}}\b)(?:\s+(?:(?:d[aeo]s?|of|the)\s+)?(?:{_WORD}|[A-Z]{{2,8}}\b))*)"
)
# Before the first word of a sentence, line, list item or quotation, where a capital is no evidence.
_BEGINS = re.compile(r"(?:^|[.!?:;…|]\s+|\n[^\S\n]*|[-*+•]\s+|\d[.)]\s+|[\"“«(]\s*)$")
_ORGANISATION = re.compile(
    r"(?:^|\s)(?:Ltda|Inc|Corp|LLC|GmbH|Banco|Bank|Minist[ée]rio|Ministry|Tribunal|Court|Secretaria|Universidade|"
    r"University|Institut[oe]|Funda[çc][ãa]o|Foundation|Diretoria|Departamento|Department|Companhia|Company|Empresa|"
    r"Ag[êe]ncia|Agency|Conselho|Council|Associa[çc][ãa]o|Association|Prefeitura|Governo|Government)(?:\s|$)"
)
# Code fences, and emphasis marks, which would hide the start of a line.
_CODE = re.compile(r"(```|~~~).*?(?:\1|\Z)|`[^`\n]*`", re.DOTALL)
_MARKS = re.compile(r"[*_#>]{1,6}(?=\S)|(?<=\S)[*_]{1,3}")
_ROMAN = re.compile(r"[IVXLCDM]+")
_NO_NAME = word_set(
    "art artigo arts inc par lei decreto sumula janeiro fevereiro marco abril maio junho julho agosto setembro outubro "
    "novembro dezembro january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday segunda terca quarta quinta sexta sabado domingo ok no nao sim "
    "the a an i it this that these those and or but if when we you they he she o os as um uma e se que na em para por "
    "com capitulo secao anexo figura tabela chapter section figure table page pagina"
)


def entities(text: str, referred: DocumentEntities = no_references) -> tuple[Entity, ...]:
    """The entities of a passage, each once, what it refers to first; at most 20."""
    plain = _MARKS.sub("", _CODE.sub(" ", text))
    references = [Entity(each.name, each.kind) for each in referred(plain)]
    said = " ".join(fold(each.name) for each in references)
    names = [each for each in _names(plain) if fold(each.name) not in said]
    found = {(fold(each.name), each.kind): each for each in [*references, *names]}
    return tuple(found.values())[:MAX_ENTITIES]


def _names(text: str) -> Iterator[Entity]:
    for match in _NAME.finditer(text):
        words = match["name"].split()
        begins = match["title"] is None and _BEGINS.search(text, max(0, match.start() - 4), match.start()) is not None
        while words and (fold(words[0]) in _NO_NAME or words[0].islower()):
            words, begins = words[1:], False
        if begins and len(words) > 2 and words[1].islower() and not _ORGANISATION.search(words[0]):
            words, begins = words[2:], False  # `Petição de Ana`: the capital of the noun is that of the sentence
        if not words or (begins and len(words) == 1 and not words[0].isupper()):
            continue
        name = " ".join(words)
        if kind := _kind(name, titled=match["title"] is not None):
            yield Entity(name, kind)


def _kind(name: str, *, titled: bool) -> str | None:
    """The kind of a name; None for other words."""
    if titled:
        return "pessoa"
    if " " not in name and name.isupper():
        return None if _ROMAN.fullmatch(name) or len(name) < 2 else "sigla"
    if _ORGANISATION.search(name):
        return "organizacao"
    return "nome" if len(name) > 2 else None
