"""Comments in Markdown: who reads the document does not see them, so they are no part of what it says."""

import re
from collections.abc import Iterator

OPENING, CLOSING = "<!--", "-->"
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
# A link that nothing refers to is how a line is commented out.
_UNUSED_LINK = re.compile(r" {0,3}\[(?://|comment)\]:.*", re.IGNORECASE)


def without_comments(text: str) -> str:
    """A text without its comments, also those that have no end; those in code are shown, and stay."""
    if OPENING not in text and "]:" not in text:
        return text
    return "".join(_shown(text))


def _shown(text: str) -> Iterator[str]:
    end, hidden, fence, last = 0, 0, "", text.rfind(CLOSING)
    for line in text.splitlines(keepends=True):
        begin, end = end, end + len(line)
        opened = FENCE.match(line) if hidden <= begin else None
        if fence or opened:
            yield line
            fence = "" if fence and line.lstrip().startswith(fence) else fence or (opened[1] if opened else "")
            continue
        at = max(begin, hidden)
        if at == begin and _UNUSED_LINK.fullmatch(line.rstrip()):
            continue
        while at < end and (start := text.find(OPENING, at, end)) >= 0:
            code = text.find("`", start, end) if text.count("`", at, start) % 2 else -1
            if code >= 0:
                yield text[at : code + 1]
                at = code + 1
            elif last > start or not text[at:start].strip():
                yield text[at:start]
                # Without an end it hides all that follows, where it begins a line.
                at = hidden = text.find(CLOSING, start + 2) + len(CLOSING) if last > start else len(text)
            else:
                break
        yield text[at:end] if at < end else ""
