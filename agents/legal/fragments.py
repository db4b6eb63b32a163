"""The place inside a law as LexML writes it: `art5_cpt_inc2`, `art7_par1u`, `art103-1` for article 103-A.

A fragment goes as deep as all that is cited goes together: `art. 8º, § 3º, I e III` is `art8_par3`. Source: LexML
Brasil, part 2 (URN lex).
"""

import re

_LEVELS = ("par", "inc", "ali", "ite")
_ORDINALS = {"primeiro": "1", "segundo": "2", "terceiro": "3", "quarto": "4", "quinto": "5"}
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_PARAGRAPH = re.compile(r"§|par[áa]grafo", re.IGNORECASE)
_POINT = re.compile(r"(?:al[íi]neas?|letras?)\b", re.IGNORECASE)
_ITEM = re.compile(r"(?:item|itens)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:incisos?|incs?\.?)(?=\W)", re.IGNORECASE)
_JOINS = re.compile(r"(?:\b(?:e|ou)\b|c/c)\s*\Z")


def fragment(article: str, parts: tuple[tuple[str, str], ...], *, rising: bool = False) -> str:
    """The LexML fragment of an article, with each of its parts and what is written before the part.

    `rising` parts stand before their article, the deepest first. Parts that do not lie one in another name the article.
    """
    whole = f"art{_lettered(article)}"
    if any(_JOINS.search(before) for _, before in parts):
        return whole
    read = [_part(written) for written, _ in parts]
    if rising:
        read.reverse()
    depths = [_LEVELS.index(level) for level, _ in read]
    if depths != sorted(set(depths)):
        return whole
    out = [whole]
    for level, values in read:
        if len(values) != 1:
            break
        if len(out) == 1 and level != "par":
            out.append("cpt")
        out.append("cpt" if values[0] == "cpt" else f"{level}{values[0]}")
    return "_".join(out)


def _part(written: str) -> tuple[str, tuple[str, ...]]:
    plain = written.strip("\"'“”‘’")
    if plain.casefold() == "caput":
        return "par", ("cpt",)
    if mark := _PARAGRAPH.match(plain):
        rest = plain[mark.end() :].casefold()
        if "único" in rest:
            return "par", ("1u",)
        numbers = re.findall(r"\d+(?:\s?[º°ªo])?(?:-[a-z])?", rest)
        spoken = [_ORDINALS[word] for word in re.findall(r"[a-z]+", rest) if word in _ORDINALS]
        return "par", tuple(map(_lettered, numbers)) or tuple(spoken)
    if mark := _POINT.match(plain):
        return "ali", tuple(_letter(each) for each in re.findall(r"\b[A-Za-z]\b", plain[mark.end() :]) if each != "e")
    if mark := _ITEM.match(plain):
        rest = plain[mark.end() :].strip()
        return "ite", (rest if rest.isdecimal() else _roman(rest),)
    if len(plain) == 1 and (plain != plain.upper() or plain != written):
        return "ali", (_letter(plain),)
    mark = _CLAUSE.match(plain)
    return "inc", tuple(map(_roman, re.findall(r"[IVXL]+(?:-[A-Z])?\b", plain[mark.end() if mark else 0 :])))


def _letter(written: str) -> str:
    return str(ord(written.casefold()) - ord("a") + 1)


def _lettered(written: str) -> str:
    """`103-A` as `103-1`; an ordinal sign and the dot of thousands say nothing."""
    number, _, letter = written.partition("-")
    return re.sub(r"\D", "", number) + (f"-{_letter(letter)}" if letter else "")


def _roman(written: str) -> str:
    figures, _, letter = written.partition("-")
    values = [_ROMAN[each] for each in figures]
    number = sum(
        -value if any(later > value for later in values[place + 1 : place + 2]) else value
        for place, value in enumerate(values)
    )
    return f"{number}-{_letter(letter)}" if letter else str(number)
