"""The text of an e-mail as Markdown: subject, who wrote to whom and when, and what it says; attachments are named."""

from email import message_from_bytes, policy
from email.message import EmailMessage

from agents.core.documents import kinds
from agents.errors import Rejected
from streams.documents import html

FIELDS = ("From", "To", "Cc", "Date")


def text_of(data: bytes) -> str:
    """The text of a message; raises `Rejected`."""
    message = message_from_bytes(data, policy=policy.default)
    try:
        fields = [f"{name}: {_line(message[name])}" for name in FIELDS if message[name]]
        subject = _line(message["Subject"] or "")
        said = _body(message)
        attached = [_line(part.get_filename() or "") for part in message.iter_attachments()]
    except (LookupError, ValueError, AttributeError, TypeError, IndexError):
        raise Rejected("document_unreadable", "it is no e-mail, or a damaged one; send its text") from None
    if not fields or not (said or subject):
        raise Rejected("document_empty", "it has no sender and no text of an e-mail; send its text")
    if names := ", ".join(filter(None, attached)):
        fields.append(f"Attached, not read: {names}")
    # Each on a line of its own, as a list.
    return "\n\n".join(
        filter(None, (f"# {subject}" if subject else "", "\n".join(f"- {each}" for each in fields), said))
    )


def _line(value: object) -> str:
    return " ".join(str(value).split())


def _body(message: EmailMessage) -> str:
    """What it says, of its plain or its HTML form; empty where it has neither."""
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    content = part.get_content()
    if part.get_content_type() != "text/html":
        return kinds.checked(content).replace("\r\n", "\n").strip()
    return html.text_of(f'<!doctype html><meta charset="utf-8">{content}'.encode(errors="replace"))
