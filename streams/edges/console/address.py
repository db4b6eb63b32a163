"""Where the console is, for who opens it."""

from urllib.parse import quote

PATH, DOCS = "/console", "/docs"


def console_url(http: str, token: str | None = None) -> str:
    """The address of the console of a server at `host:port`.

    With a token it opens without asking for one: the token stands behind `#`, which a browser sends nowhere.
    """
    fragment = "" if token is None else f"#token={quote(token, safe='')}"
    return f"http://{http}{PATH}{fragment}"


def message_url(console: str, message_id: str) -> str:
    """The page of the console at an address that explains one message."""
    return f"{console}#/message/{quote(message_id, safe='')}"
