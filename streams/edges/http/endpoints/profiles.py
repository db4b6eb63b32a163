"""`PUT /profiles/{user}`: who a user is, as a document of `documents.in`."""

from typing import Annotated

from fastapi import APIRouter, Header, Path
from pydantic import Field, ValidationError
from starlette.requests import Request

from schemas import codec
from schemas.base import Id
from schemas.items import AccessLevel
from schemas.memory import ObjectiveEntry, Profile
from schemas.topics import DOCUMENTS_IN
from streams.edges.client import profiles, records
from streams.edges.client.arguments import Arguments
from streams.edges.http.identity import check_application, grant_of
from streams.edges.http.openapi import SEND_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute
from streams.edges.http.sending import CallHeaders, CallSender, Place


class ProfileBody(Arguments):
    """A user's profile without the user; what is left out is as for somebody unknown."""

    user_role: str = "unknown"
    department: str = "unknown"
    access_level: AccessLevel = Field("public", description="what the user may see")
    objectives: tuple[ObjectiveEntry, ...] = Field((), strict=False)


class ProfileTaken(Place):
    """A profile in the log."""

    user_id: str


def profiles_router(sender: CallSender) -> APIRouter:
    """The route."""
    router = APIRouter(route_class=LoggedRoute)

    @router.put(
        "/profiles/{user:path}",
        status_code=202,
        summary="Say who a user is",
        response_description="the profile is in the log",
        responses=problems(SEND_PROBLEMS),
    )
    async def profile(
        request: Request,
        user: Annotated[Id, Path(description="the user's id")],
        given: ProfileBody,
        headers: Annotated[CallHeaders, Header()],
    ) -> ProfileTaken:
        """Replaces the profile: role, department, objectives, and which documents the user may see."""
        check_application(grant_of(request), "a profile")
        try:
            whole = Profile(user_id=user, **dict(given))
            document = profiles.document_of(whole)
        except ValidationError as error:
            raise Problem(422, f"this is no profile: {records.first_wrong(error, 'profile')}") from None
        prepared = sender.prepared(request, DOCUMENTS_IN, codec.dump(document), headers)
        return ProfileTaken(user_id=whole.user_id, **dict(Place.of(await sender.sent(prepared))))

    return router
