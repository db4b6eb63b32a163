"""The relation of a claim to earlier ones with the same subject and attribute.

A false conflict is worse than a missed one: a bare `prazo` matches a `prazo do projeto x` only when the conversation
has no other, and subjects of different conversations match only when they contain a name.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from agents.core.caching.texts import text_cache
from agents.core.claims.attributes import MANY, name_form
from agents.core.claims.grammar import is_reported
from agents.core.claims.markers import announces_change, is_correction
from agents.core.claims.subjects import SubjectKey, subject_key
from agents.core.conversation.stated_values import restated
from agents.core.language.sentences import flatten
from agents.core.language.values import TypedValue, exclude, read, same
from schemas.memory import ClaimAsserted, Conflict

SURE = 0.6
MAX_REACH, MAX_CONFLICTS = 16, 16
ABBREVIATED = 0.8
OWNER, ADDRESS = "@user", "address"
_DENIAL = re.compile(r"(?:não|not)\s+")

Serial = tuple[datetime, int, int, int]


def serial(claim: ClaimAsserted) -> Serial:
    """The sort key of assertions: time said, place in the log, then turn."""
    return claim.asserted_at, claim.source.partition, claim.source.offset, claim.seq


def relate(new: ClaimAsserted, earlier: Sequence[ClaimAsserted]) -> ClaimAsserted:
    """The claim with its contradictions, superseded claims and status, given earlier claims in any order.

    It supersedes when a user updates their own statement, or when the other side comes to agree; otherwise both stay.
    """
    before = _in_reach(new, earlier)
    agreed = [old for old in before if _says_the_same(new, old)]
    found = [(old, conflict) for old in before if (conflict := _conflict(new, old)) is not None]
    found = _only_newest_of_the_loose(new, found)
    confirmed = _confirmed(new, agreed, found)
    if confirmed:
        return new.model_copy(update={"status": "confirmed", "supersedes": _ids(new.supersedes, confirmed)})
    # A repetition by the same author: the first statement already contradicts the values older than it.
    own = max((serial(old) for old in agreed if old.author == new.author), default=None)
    conflicts = [(old, conflict) for old, conflict in found if own is None or serial(old) > own]
    contested = new.author == "system" and own is not None and any(old.author == "user" for old, _ in conflicts)
    return new.model_copy(
        update={
            "contradicts": _conflicts(new.contradicts, [conflict for _, conflict in conflicts]),
            "supersedes": _ids(new.supersedes, _updated(new, conflicts)),
            "status": "contested" if contested else new.status,
        }
    )


def _left_for_another(old: ClaimAsserted, earlier: Iterable[ClaimAsserted]) -> bool:
    """Whether the conversation moved on to another named subject, which a bare subject then refers to."""
    ours = subject_key(old.subject)
    named = bool(ours.qualifiers) and not ours.owned
    return named and any(
        serial(other) > serial(old)
        and (other.client_id, other.conversation_id) == (old.client_id, old.conversation_id)
        and other.message_id != old.message_id
        and (theirs := subject_key(other.subject)).qualifiers
        and ours.qualifiers.isdisjoint(theirs.qualifiers)
        and not theirs.owned
        and _names(theirs, other)
        for other in earlier
    )


def _in_reach(new: ClaimAsserted, earlier: Sequence[ClaimAsserted]) -> list[ClaimAsserted]:
    """Earlier claims of the same subject and attribute, newest first; at most 16: each is related to those before."""
    key, place = subject_key(new.subject), serial(new)
    alike = {
        old.claim_id: old
        for old in earlier
        if old.attribute == new.attribute
        and (subject_key(old.subject).head == key.head or _shortens(new, old) or _shortens(old, new))
        and old.status != "retracted"
        and serial(old) < place
    }
    # Of many claims there are few subjects.
    named = {subject_key(each.subject): each for each in (*alike.values(), new)}
    # Only a subject without qualifiers shortens another.
    bare = {each: of for each, of in named.items() if each.qualifiers <= {OWNER}}
    short = {each for each, of in bare.items() if any(_shortens(of, other) for other in named.values())}
    fullest = named.keys() - short
    full = max((old for old in alike.values() if _shortens(new, old)), key=serial, default=None)
    last = subject_key(full.subject) if full is not None and _here(new, full) else None

    def meant(old: ClaimAsserted) -> bool:
        if key.owned:
            return len(fullest) == 1 or subject_key(old.subject) == last
        return len(fullest) == 1 and (bool(key.qualifiers) or not _left_for_another(old, earlier))

    met = [old for old in alike.values() if _same_place(new, old, meant=meant(old))]
    return sorted(met, key=serial, reverse=True)[:MAX_REACH]


def _shortens(new: ClaimAsserted, old: ClaimAsserted) -> bool:
    """Whether a subject names in fewer words what another may be: `my budget`, `my budget for the bike`."""
    ours, theirs = subject_key(new.subject), subject_key(old.subject)
    # Of most pairs the heads tell: they come first.
    if ours.head not in (theirs.head, _head_noun(old.subject, old.lang)) or ours == theirs:
        return False
    alike = ours.owned == theirs.owned and ours.qualifiers <= {OWNER}
    return alike and (not ours.owned or _ones_own(old))


@text_cache(8_192)
def _head_noun(subject: str, lang: str) -> str:
    """The concept of the last word of an English head, of the first of a Portuguese one."""
    words = subject_key(subject).head.split(" ")
    return subject_key(words[0 if lang == "pt" else -1]).head


def _ones_own(claim: ClaimAsserted) -> bool:
    """Whether a thing is the user's itself, and not that of another thing: `my budget`, and not `my sister's phone`."""
    if claim.subject.startswith("user's "):
        return claim.subject.count("'s ") == 1
    head, _, _ = claim.subject.partition(" ")
    return re.search(rf"\b(?:meus?|minhas?) (?:[\w-]+ )?{re.escape(flatten(head))}\b", flatten(claim.text)) is not None


def _confirmed(
    new: ClaimAsserted, agreed: Sequence[ClaimAsserted], found: Sequence[tuple[ClaimAsserted, Conflict]]
) -> list[str]:
    """The claims given up when one side asserts what the other side had asserted after them."""
    others = [one for one in agreed if one.author != new.author and one.functional and new.functional]
    if not others or new.confidence < SURE:
        return []
    latest = max(others, key=serial)
    newer = [old for old, _ in found if serial(old) > serial(latest)]
    return [] if newer else [old.claim_id for old, _ in found]


def _updated(new: ClaimAsserted, conflicts: Sequence[tuple[ClaimAsserted, Conflict]]) -> list[str]:
    """The user's own older claims that a newer one replaces; none of another author."""
    if new.author != "user" or new.confidence < SURE or denied(new) is not None:
        return []
    return [old.claim_id for old, conflict in conflicts if old.author == "user" and conflict.kind != "negation"]


def _only_newest_of_the_loose(
    new: ClaimAsserted, found: list[tuple[ClaimAsserted, Conflict]]
) -> list[tuple[ClaimAsserted, Conflict]]:
    """For a multi-valued attribute only the newest conflict, since an explicit correction is about one value."""
    firm = [(old, conflict) for old, conflict in found if new.functional and old.functional]
    return (firm or found[:1])[:MAX_CONFLICTS]


def _conflict(new: ClaimAsserted, old: ClaimAsserted) -> Conflict | None:
    corrects = is_correction(new.text, new.lang)
    if new.author == old.author and is_reported(new.text) and not corrects:
        return None
    changes = corrects or announces_change(new.text)
    fit = 1.0 if subject_key(new.subject) == subject_key(old.subject) else ABBREVIATED
    ours, theirs = denied(new), denied(old)
    if ours is not None or theirs is not None:
        return _denial(new, old, ours, theirs, fit)
    if not (changes and _other_name(new, old)):
        if not (new.functional and old.functional) and not (changes and new.attribute not in MANY):
            return None
        if not (values_exclude(new, old) or (corrects and _free_to_differ(new, old))):
            return None
    kind: Literal["correction", "newer_value"] = "correction" if corrects else "newer_value"
    return Conflict(claim_id=old.claim_id, kind=kind, score=round(fit * min(new.confidence, old.confidence), 2))


def _denial(
    new: ClaimAsserted, old: ClaimAsserted, ours: str | None, theirs: str | None, fit: float
) -> Conflict | None:
    if (ours is None) == (theirs is None):
        return None
    plain = new.model_copy(update={"value": ours or new.value})
    other = old.model_copy(update={"value": theirs or old.value})
    if not values_agree(plain, other):
        return None
    return Conflict(claim_id=old.claim_id, kind="negation", score=round(fit * min(new.confidence, old.confidence), 2))


def denied(claim: ClaimAsserted) -> str | None:
    """The value a claim denies; None for an assertion."""
    found = _DENIAL.match(claim.value)
    return claim.value[found.end() :] if found else None


def _same_place(new: ClaimAsserted, old: ClaimAsserted, *, meant: bool) -> bool:
    """Whether two claims with one head noun share a subject; `meant`: the shorter name can be of no other subject."""
    ours, theirs = subject_key(new.subject), subject_key(old.subject)
    if (ours.owned or theirs.owned) and (ours.owned != theirs.owned or new.user_id != old.user_id):
        return False
    here = _here(new, old)
    if ours == theirs and not here:
        return ours.owned or (_names(ours, new) and _names(theirs, old)) or _in_the_same_words(new, old)
    if ours == theirs and (ours.qualifiers or ours.owned):
        return True
    explicit = is_correction(new.text, new.lang) or announces_change(new.text)
    if ours.owned:
        return meant and explicit and _shortens(new, old)
    if not here or (ours.qualifiers and theirs.qualifiers):
        return False
    near = explicit or new.frame_id == old.frame_id
    # `o prazo` can refer to the other side's `o prazo do projeto x`; the same author may mean a new subject, as with a
    # newly qualified one: only a correction or a change makes it the same.
    answers = not ours.qualifiers and new.author != old.author
    return near and (ours == theirs or (meant and (explicit or answers)))


def _in_the_same_words(new: ClaimAsserted, old: ClaimAsserted) -> bool:
    """Whether a user says in the same words, with another value, what the same user said before."""
    own = new.author == old.author == "user" and (new.user_id, new.lang) == (old.user_id, old.lang)
    return own and restated(old.text, old.asserted_at, new.text, new.asserted_at, new.lang) is not None


def _here(new: ClaimAsserted, old: ClaimAsserted) -> bool:
    return (new.client_id, new.conversation_id) == (old.client_id, old.conversation_id)


def _names(key: SubjectKey, claim: ClaimAsserted) -> bool:
    """Whether a subject contains a name, and so means the same in another conversation."""
    return any(len(word) == 1 or any(map(str.isdigit, word)) or _capital(word, claim.text) for word in key.qualifiers)


def _capital(word: str, text: str) -> bool:
    return any(flatten(found) == word for found in re.findall(r"(?<=[\w,] )[A-ZÀ-Ý][\w-]*", text))


def typed_value(claim: ClaimAsserted) -> TypedValue | None:
    """The typed value of a claim; None for free text and for roles, which are always words."""
    return None if claim.attribute == "cargo" else _typed(claim.value, claim.lang, claim.subject)


@text_cache(16_384)
def _typed(value: str, lang: str, subject: str) -> TypedValue | None:
    return read(value, lang, version="version" in subject_key(subject).head)


def values_exclude(a: ClaimAsserted, b: ClaimAsserted) -> bool:
    """Whether two values of one subject and attribute exclude each other."""
    ours, theirs = typed_value(a), typed_value(b)
    if ours is not None and theirs is not None:
        return exclude(ours, a.asserted_at, theirs, b.asserted_at)
    free = a.attribute in ("preferência", "cargo", "estado civil") and ours is None and theirs is None
    return free and not _contains(flatten(a.value), flatten(b.value))


def values_agree(a: ClaimAsserted, b: ClaimAsserted) -> bool:
    """Whether two claims of one subject and attribute give the same value."""
    if flatten(a.value) == flatten(b.value):
        return True
    ours, theirs = typed_value(a), typed_value(b)
    return ours is not None and theirs is not None and same(ours, a.asserted_at, theirs, b.asserted_at)


def _other_name(new: ClaimAsserted, old: ClaimAsserted) -> bool:
    """Whether a user's own thing is called another: after `my plan is the basic one`, `now my plan is the premium`.

    An address is a name, in whatever form it is written.
    """
    ours = subject_key(new.subject)
    if not ours.owned:
        return False
    if ours.head == ADDRESS:
        return not _contains(flatten(new.value), flatten(old.value))
    form = name_form(new.value, new.lang)
    if form is None or form != name_form(old.value, old.lang):
        return False
    typed = (typed_value(each) for each in (new, old))
    free = all(each is None or each.kind == "person" for each in typed)
    return free and not _contains(flatten(new.value), flatten(old.value))


def _contains(one: str, other: str) -> bool:
    return one in other or other in one


def _free_to_differ(new: ClaimAsserted, old: ClaimAsserted) -> bool:
    """Whether a correction replaces a compatible value of the same kind: `sexta` after `dia 15` could be one day."""
    ours, theirs = typed_value(new), typed_value(old)
    if values_agree(new, old) or new.attribute in MANY:
        return False
    if ours is None or theirs is None:
        return False
    if {ours.kind, theirs.kind} == {"person", "place"}:
        # An unlisted city is read as a name: `capital: Sydney` and `capital: Canberra`.
        return True
    return ours.kind == theirs.kind and "level" not in dict(ours.parts)


def _says_the_same(new: ClaimAsserted, old: ClaimAsserted) -> bool:
    ours, theirs = subject_key(new.subject), subject_key(old.subject)
    return ours == theirs and values_agree(new, old)


def _ids(known: Sequence[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*known, *more]))


def _conflicts(known: Sequence[Conflict], more: Iterable[Conflict]) -> tuple[Conflict, ...]:
    return tuple({conflict.claim_id: conflict for conflict in [*more, *known]}.values())
