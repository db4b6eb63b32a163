"""Whose a call is: tenant, client and user of its token, and what the token leaves open to the caller."""

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from schemas.base import Conversation, Id
from streams.edges.http.gate import GRANT
from streams.edges.http.problems import Problem
from streams.edges.http.routes import Unsent
from streams.edges.http.tokens import Grant

DEFAULT_CLIENT = "default"


def grant_of(request: Request) -> Grant:
    """The grant of the call's token."""
    found: Grant = request.scope[GRANT]
    return found


def client_of(grant: Grant, stated: Id | None) -> Id:
    """The client: the stated one, else the token's; raises `Problem` (403) where the token is for another."""
    if stated is not None and grant.client not in (None, stated):
        raise Problem(403, "this token is for another client_id; send the one it was made for")
    return stated or grant.client or DEFAULT_CLIENT


class MessageConversation(BaseModel):
    """Which message of an id is meant: producers may number their messages in each conversation anew."""

    model_config = ConfigDict(extra="forbid")

    conversation_id: Id | Unsent = Field(None, description="whose message; default: the newest one with this id")
    client_id: Id | Unsent = Field(None, description="of the conversation; default: the token's")

    def stated(self, grant: Grant) -> Conversation | None:
        """The conversation, if it is stated; raises `Problem` (403) where the token is for another client."""
        client = client_of(grant, self.client_id)
        if self.conversation_id is None:
            return None
        return Conversation(tenant=grant.tenant, client_id=client, conversation_id=self.conversation_id)


def user_of(grant: Grant, stated: Id | None) -> Id | None:
    """The user: the stated one, else the token's; raises `Problem` (403) where the token is for another."""
    if stated is not None and grant.user not in (None, stated):
        raise Problem(403, "this token is for another user; leave Fathom-User out, or send the one it was made for")
    return stated or grant.user


def check_application(grant: Grant, what: str) -> None:
    """Raises `Problem` (403) for a token of one user, which may not change what everybody of the tenant reads."""
    if grant.user is not None:
        raise Problem(
            403, f"this token is for one user, and {what} is for the whole tenant; use a token without a user"
        )


def check_operator(request: Request) -> None:
    """Raises `Problem` (403) for a token that is no operator's: it would see what other tenants do."""
    if not grant_of(request).operator:
        raise Problem(
            403,
            "this tells of all tenants: use an operator's token, that of the data directory of `fathom up` or one with "
            '`"operator": true` in the file of tokens',
        )
