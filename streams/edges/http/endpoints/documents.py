"""`POST /documents` and `DELETE /documents/{document_id}`: texts and files to remember, and what is to be forgotten."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from fastapi import APIRouter, Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import Response

from agents.core.documents.kinds import DocumentKind
from agents.errors import Rejected, Unavailable
from agents.ports.models import DocumentReader
from schemas import codec
from schemas.base import Id
from schemas.items import AccessLevel
from schemas.memory import DocumentDeleted
from schemas.topics import DOCUMENTS_IN
from streams.edges.client import document_visibility, documents, log_lookup
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import BadInput, OutgoingRecord
from streams.edges.http import bodies
from streams.edges.http.identity import check_application, grant_of
from streams.edges.http.openapi import DELETE_PROBLEMS, SEND_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute, Unsent, wrong_body
from streams.edges.http.sending import CallHeaders, CallSender, Place, looking_up

F = TypeVar("F", bound=BaseModel)
TYPES: Mapping[str, DocumentKind | None] = {
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/html": "html",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "text/csv": "csv",
    "message/rfc822": "eml",
    "application/octet-stream": None,
}
JSON, FORM = "application/json", "multipart/form-data"
FIELDS_MOST, FIELD_BYTES = 10, 64_000
NAME_CHARS = 200
UNNAMED = PurePath("document")
WAIT_S = 30.0
STATUS = {"document_too_large": 413, "document_type_unknown": 415, "document_timeout": 422}


class DocumentFields(BaseModel):
    """What is said of a document besides its text; `document_id` replaces the document of that id."""

    model_config = ConfigDict(extra="forbid")

    title: str | Unsent = Field(None, min_length=1, description="default: the first heading, or the file's name")
    document_id: Id | Unsent = Field(
        None, description="default: of a file's name and tenant, without a name of the text"
    )
    lang: Literal["pt", "en"] | Unsent = Field(None, description="default: as it is written")
    access: AccessLevel = Field("public", description="who may see it")


class DocumentQuery(DocumentFields):
    wait: Literal["visible"] | Unsent = Field(None, description="answer once the passages can be found")


class DocumentBody(DocumentFields):
    """A document as JSON."""

    text: str = Field(min_length=1)


class DocumentTaken(Place):
    """A document in the log; `visible` once its passages can be found."""

    document_id: str
    visible: bool


class DocumentForgotten(Place):
    """The deletion of a document in the log."""

    document_id: str


class DocumentRoute(LoggedRoute):
    """The body is read by the endpoint: JSON, a form, or the file itself."""

    max_bytes = DOCUMENTS_IN.max_bytes
    sentences: ClassVar[Mapping[str, str]] = {
        **LoggedRoute.sentences,
        "": "the query parameters are title, document_id, lang, access and wait",
        "wait": "wait: is `visible`; leave it out not to wait",
        "lang": "lang: is pt or en; leave it out for a document of any other language",
        "access": "access: is public, internal, restricted or confidential",
    }


FOUND: dict[str, Any] = {"model": DocumentTaken, "description": "its passages can be found"}
_CONTENT: dict[str, Any] = {
    JSON: {"schema": DocumentBody.model_json_schema()},
    FORM: {
        "schema": {
            "type": "object",
            "required": ["file"],
            "properties": {
                "file": {"type": "string", "format": "binary"},
                **DocumentFields.model_json_schema()["properties"],
            },
        }
    },
    **{kind: {"schema": {"type": "string"}} for kind in ("text/plain", "text/markdown", "text/html")},
    "application/pdf": {"schema": {"type": "string", "format": "binary"}},
}


def documents_router(sender: CallSender, reader: DocumentReader) -> APIRouter:
    """The routes."""
    router = APIRouter(route_class=DocumentRoute)
    endpoints = DocumentEndpoints(sender, reader)
    router.add_api_route(
        "/documents",
        endpoints.document,
        methods=["POST"],
        status_code=202,
        summary="Remember a document: JSON with its text, a form with a file, or the file itself",
        response_description="the document is in the log",
        responses={200: FOUND, **problems(SEND_PROBLEMS)},
        openapi_extra={"requestBody": {"required": True, "content": _CONTENT}},
    )
    router.add_api_route(
        "/documents/{document_id:path}",
        endpoints.forget_document,
        methods=["DELETE"],
        status_code=202,
        summary="Forget a document",
        response_description="the deletion is in the log; the document's passages are found no more within a second",
        responses=problems(DELETE_PROBLEMS),
    )
    return router


class DocumentEndpoints:
    """Sends documents, read and checked before, and their deletions."""

    def __init__(self, sender: CallSender, reader: DocumentReader) -> None:
        self._sender = sender
        self._reader = reader

    async def document(
        self,
        request: Request,
        answer: Response,
        query: Annotated[DocumentQuery, Query()],
        headers: Annotated[CallHeaders, Header()],
    ) -> DocumentTaken:
        """Text, Markdown, HTML, PDF, Word, CSV or e-mail.

        Sent again with the same `document_id`, or a file with the same name, it replaces its earlier version.
        """
        grant = grant_of(request)
        check_application(grant, "a document")
        name, data, kind, said = await _read(request, query)
        named = None if name == UNNAMED else documents.id_of_file(name.name, grant.tenant)
        stated = {
            "title": said.title,
            "document_id": said.document_id or named,
            "lang": said.lang,
            "access_level": said.access,
        }
        try:
            value = await documents.value_of(name, data, kind, stated, self._reader, grant.tenant)
        except Rejected as refused:
            status = STATUS.get(refused.code, 422)
            raise Problem(status, f"{refused.code}: {refused.detail}", code=refused.code) from None
        except BadInput as error:
            raise Problem(422, str(error)) from None
        except Unavailable as error:
            raise Problem(503, str(error), retry_after="1") from None
        prepared = self._sender.prepared(request, DOCUMENTS_IN, value, headers)
        if query.wait is None:
            sent = await self._sender.sent(prepared)
            return DocumentTaken(document_id=prepared.name, visible=False, **dict(Place.of(sent)))
        answer.status_code = 200
        return await self._visible(prepared)

    async def _visible(self, prepared: OutgoingRecord) -> DocumentTaken:
        try:
            async with document_visibility.following(self._sender.exchange.bootstrap()) as visibility:
                sent = await self._sender.sent(prepared)
                await visibility.wait(sent, WAIT_S)
        except document_visibility.DocumentRefused as error:
            raise Problem(422, str(error)) from None
        except CommandFailed as error:
            raise Problem(504, str(error)) from None
        return DocumentTaken(document_id=prepared.name, visible=True, **dict(Place.of(sent)))

    async def forget_document(
        self, request: Request, document_id: Annotated[Id, Path()], headers: Annotated[CallHeaders, Header()]
    ) -> DocumentForgotten:
        """Its passages, definitions and procedures are offered no more, from now on; sent again, it is there again."""
        grant = grant_of(request)
        check_application(grant, "a document")
        with looking_up(404):
            await log_lookup.check_document(self._sender.exchange.bootstrap(), grant.tenant, document_id)
        value = codec.dump(DocumentDeleted(document_id=document_id))
        sent = await self._sender.sent(self._sender.prepared(request, DOCUMENTS_IN, value, headers))
        return DocumentForgotten(document_id=document_id, **dict(Place.of(sent)))


async def _read(request: Request, query: DocumentQuery) -> tuple[PurePath, bytes, DocumentKind | None, DocumentFields]:
    """Name, bytes, type and fields of the document in a body; raises `Problem`."""
    kind = bodies.kind_of(request)
    if kind not in (JSON, FORM, *TYPES):
        known_types = ", ".join((JSON, FORM, *TYPES))
        raise bodies.closing(415, f"state what the body is in Content-Type: one of {known_types}")
    body = await bodies.read(request, DOCUMENTS_IN.max_bytes)
    if kind == JSON:
        said = _fields(DocumentBody, bodies.parsed(body), query)
        return UNNAMED, said.text.encode(errors="replace"), "markdown", said
    if kind != FORM:
        return UNNAMED, body, TYPES[kind], query
    return await _form(request, body, query)


async def _form(
    request: Request, body: bytes, query: DocumentQuery
) -> tuple[PurePath, bytes, DocumentKind | None, DocumentFields]:
    """The parts of a form: a file, and fields beside it."""

    async def once() -> Any:
        yield body

    try:
        form = await MultiPartParser(
            request.headers, once(), max_files=1, max_fields=FIELDS_MOST, max_part_size=FIELD_BYTES
        ).parse()
    except (MultiPartException, KeyError):
        raise Problem(400, "the body is no form; send multipart/form-data with the part `file`") from None
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise Problem(422, "file: there is no file of this name in the form; send the document as the part `file`")
        said = _fields(DocumentFields, {name: text for name, text in form.items() if name != "file"}, query)
        stated = (file.content_type or "").partition(";")[0].strip().lower()
        name = PurePath(PurePath(file.filename or "").name[:NAME_CHARS] or UNNAMED)
        suffix = documents.SUFFIXES.get(name.suffix.lower())
        return name, await file.read(), suffix or TYPES.get(stated), said
    finally:
        await form.close()


def _fields(model: type[F], said: object, query: DocumentQuery) -> F:
    """The fields of a body, completed by those of the query; raises `Problem` (422)."""
    also = query.model_dump(exclude_unset=True, exclude={"wait"})
    try:
        return model.model_validate({**also, **said} if isinstance(said, dict) else said)
    except ValidationError as error:
        raise Problem(422, wrong_body(error.errors(include_url=False), model)) from None
