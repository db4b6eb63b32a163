"""The skeleton of a question: function words in one vocabulary for both languages, all other words masked."""

import itertools
from collections.abc import Iterator
from functools import cache

from agents.core.language.phrases import END, PAUSE, START, Sentence

MASK = "X"
# "O que" and "por que" are one question word each.
JOINED = {("o", "que"): "what", ("por", "que"): "why"}
MAX_WORDS = 12

# Function words under one name for both languages.
SKELETON_EN = """
what=what whats
which=which
who=who whom whose
when=when
where=where
why=why
how=how
many=many much long old far often tall big large high deep wide fast
is=is are am be
was=was were been
do=do does
did=did
can=can could may might
should=should must need ought
will=will would shall
has=has have had
i=i me my we us our myself mine
you=you your yours
he=he she him her his hers they them their
it=it its
a=a an
the=the
this=this that these those
of=of
in=in on at
for=for
to=to
with=with
by=by
from=from
and=and
or=or
if=if when
than=than
as=as
not=not no
there=there
most=most best first last largest biggest highest
some=some any
kind=kind type sort
after=after before during since until
called=called named known name
"""
SKELETON_PT = """
what=qual quais que
who=quem
when=quando
where=onde
why=porque
how=como
many=quanto quanta quantos quantas
is=é sao está estao ser seja sou estou
was=foi foram era eram fui estava
do=faz fazem fazer faco
can=pode podem posso podemos poderia consigo consegue
should=devo deve devem deveria preciso precisa precisamos
will=vai vao vou sera ira
has=tem tenho temos ha existe existem haver
i=eu me meu minha meus minhas nos nosso nossa nossos nossas
you=voce voces seu sua seus suas te
he=ele ela eles elas dele dela deles delas
a=um uma
the=o a os as
this=isso isto esse essa este esta aquele aquela
of=de do da dos das
in=em no na nos nas
for=para pra
with=com
by=por pelo pela
from=desde
and=e
or=ou
if=se caso
as=tanto tao
not=nao nem
most=mais maior melhor primeiro primeira ultimo ultima
some=algum alguma alguns algumas
kind=tipo especie
after=apos depois antes durante ate
called=chama chamam chamado chamada nome
"""


@cache
def _function_words(lang: str) -> dict[str, str]:
    """The skeleton's name of each function word."""
    names: dict[str, str] = {}
    for line in (SKELETON_PT if lang == "pt" else SKELETON_EN).strip().splitlines():
        name, _, words = line.partition("=")
        names |= dict.fromkeys(words.split(), name.strip())
    return names


def skeleton(sentence: Sentence, lang: str) -> tuple[str, ...]:
    """The skeleton of a sentence (`what is the X of the X`); adjacent masked words make one mask."""
    names = _function_words(lang)
    shown: list[str] = []
    for before, word in zip(("", *sentence.words), sentence.words, strict=False):
        name = word if word in (START, END) else names.get(word, "" if word == PAUSE else MASK)
        if (before, word) in JOINED:
            shown[-1] = JOINED[before, word]
            continue
        if name and not (name == MASK and shown and shown[-1] == MASK):
            shown.append(name)
    return tuple(shown)


def pieces(shown: tuple[str, ...]) -> Iterator[str]:
    """The features of a skeleton: its words, its bigrams, and its first three words."""
    seen = shown[:MAX_WORDS]
    yield from dict.fromkeys(seen[1:])
    yield from dict.fromkeys(" ".join(pair) for pair in itertools.pairwise(seen))
    if len(seen) > 3:
        yield " ".join(seen[:4])
