"""Tenants that try to be each other, and the strings by which what belongs to one is known wherever it turns up."""

import re
import unicodedata
from dataclasses import dataclass

from schemas.base import PUBLIC_TENANT

CANARY = re.compile(r"cnry[0-9]{6}x")

# Different tenants, however alike they look, sort, fold, match or unquote.
HOSTILE = (
    *("acme", "ACME", "Acme", "acm", "acme2", "acme|web", "acme|web|c1", "acme%7Cweb", "acme%7cweb", "acme%257Cweb"),
    *("acme:web", "acme*", "*", "%", "|", ":", "a?me", "[a]cme", "{acme}", "}", "acme}:session", "fathom:{acme"),
    *("_Public", "_public_", "__public", "_publi", "\uff3fpublic", "_p\u016bblic", "public", "_PUBLIC"),
    *("\uff41\uff43\uff4d\uff45", "\u0430cme", "acm\u00e9", "acme\u0301", "a\u00e7me", "ac\u0327me", "\u017fac"),
    *("stra\u00dfe", "strasse", "STRASSE", "\ufb01x", "fix", "sac", "-acme", "\u0130x", "ix", "i\u0307x"),
    *("1", "01", "1.0", "1e0", "true", "True", "null", "None", "NaN", "2026-03-02", "[]", "{}", '""', "''"),
    *("acme' OR 1=1 //", 'acme"}) DETACH DELETE n //', "`acme`", "$tenant", "$tenants", "${acme}", "\\u0061cme"),
    *('{"any": ["acme"]}', "acme\\", "acme/*", "acme --", "acme;", "acme AND beta", "acme~", "acme^2", "+acme"),
    *("default", "fathom", "web", "ana", "c1", "d1", "x" * 256, "x" * 255, "\U0001f600", "\U0001f600\u2764"),
)  # fmt: skip
assert len(set(HOSTILE)) == len(HOSTILE)

# What is no tenant: refused wherever it comes in.
REFUSED = (
    *("", " ", "acme ", " acme", "\u3000acme", "ac\nme", "acme\n", "ac\rme", "acme\t", "ac\x00me", "acme\x7f"),
    *("ac\u200bme", "ac\u200dme", "ac\u2028me", "ac\u202eme", "\ufeffacme", "ac\u00a0me", "ac\u00adme", "x" * 257),
    *("x" * 1_000, "\ud800", "acme\udcff"),
)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant and its mark, which is in everything it ever says."""

    name: str
    canary: str


PUBLIC = Tenant(PUBLIC_TENANT, "cnry999999x")


def tenants(count: int) -> tuple[Tenant, ...]:
    """The hostile ones first, then their variants; no two are one after any normalisation that is not theirs."""
    names = dict.fromkeys(HOSTILE)
    number = 0
    while len(names) < count:
        base = HOSTILE[number % len(HOSTILE)]
        for name in (f"{base[:200]}{number}", f"{base[:200]}|{number}", f"{number}{base[:200]}"):
            names.setdefault(unicodedata.normalize("NFC", name), None)
        number += 1
    return tuple(Tenant(name, f"cnry{number:06d}x") for number, name in enumerate([*names][:count]))


def canaries(*shown: object) -> set[str]:
    """The marks in what was shown."""
    return {mark for each in shown for mark in CANARY.findall(each if isinstance(each, str) else repr(each))}


def foreign(tenant: Tenant, *shown: object) -> set[str]:
    """The marks that are neither the tenant's own nor everybody's."""
    return canaries(*shown) - {tenant.canary, PUBLIC.canary}
