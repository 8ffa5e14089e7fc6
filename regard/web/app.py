"""App: the routes of the explorer. What they answer is made in tasks.py and parts.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from regard.errors import RegardError
from regard.inside.look.exploration import Exploration
from regard.inside.textmodel import TextModel
from regard.inside.whatif.wish import FORM, Wish
from regard.learn.course import chapters, languages
from regard.learn.edition import edition
from regard.pieces.measures import MEASURES
from regard.views.page.course import course_html
from regard.views.page.file import filled
from regard.views.page.inline import policy
from regard.web import parts
from regard.web.guard import Guard, TooLargeError, read_body
from regard.web.openapi import description
from regard.web.tasks import BusyError, LookTask, LookTasks

MOST_TOKENS = 8192
"""The longest text, unless the command says otherwise."""
AT_ONCE = 2
"""Parts that are computed at the same time."""


def make_app(models: dict[str, TextModel], most_tokens: int, hosts: set[str]) -> Starlette:
    """The explorer of these models, for requests that name one of ``hosts``."""
    tasks = LookTasks(models)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        app.state.room = anyio.CapacityLimiter(AT_ONCE)
        try:
            yield
        finally:
            tasks.close()

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/learn", learn),
            Route("/openapi.json", openapi),
            Route("/api/models", list_models),
            Route("/api/looks", ask, methods=["POST"]),
            Route("/api/looks/{id}", status),
            Route("/api/looks/{id}", forget, methods=["DELETE"]),
            Route("/api/looks/{id}/document", whole),
            Route("/api/looks/{id}/outcome", outcome),
            Route("/api/looks/{id}/what-if", what_if, methods=["POST"]),
            Route("/api/looks/{id}/measures/{name}", measure, methods=["POST"]),
            Route("/api/looks/{id}/measured", measured),
            Route("/api/looks/{id}/links/{row:int}/{column:int}", link),
            Route("/api/looks/{id}/layers/{layer:int}", layer),
            Route("/api/looks/{id}/layers/{layer:int}/contexts/{row:int}", contexts),
            Route("/api/looks/{id}/layers/{layer:int}/heads/{head:int}", head),
            Route("/api/looks/{id}/layers/{layer:int}/heads/{head:int}/rows/{row:int}", row),
            Route(
                "/api/looks/{id}/layers/{layer:int}/heads/{head:int}"
                "/tiles/{level:int}/{down:int}/{across:int}",
                tile,
            ),
        ],
        lifespan=lifespan,
        exception_handlers={RegardError: refuse, 404: missing, 405: missing},
    )
    app.add_middleware(Guard, hosts=hosts, policy=policy("explorer", connect="'self'"))
    app.state.tasks, app.state.most_tokens = tasks, most_tokens
    return app


async def page(request: Request) -> Response:
    config = {"models": _models(request), "most_tokens": request.app.state.most_tokens}
    rules = policy("explorer", connect="'self'")
    text = filled("regard explorer", {"serve": config}, "", rules, "explorer")
    return HTMLResponse(text)


async def learn(request: Request) -> Response:
    """The course, in the language asked for; its own policy is in the page."""
    wanted = request.query_params.get("lang", "")
    language = wanted if wanted in languages() else "en"

    def made() -> str:
        return course_html(edition(chapters(language), language))

    text = await _computed(request, made)
    return HTMLResponse(text, headers={"content-security-policy": "frame-ancestors 'none'"})


async def openapi(request: Request) -> Response:
    return JSONResponse(description(request.app.state.most_tokens))


async def list_models(request: Request) -> Response:
    known = {"models": _models(request), "most_tokens": request.app.state.most_tokens}
    return JSONResponse(known)


def _models(request: Request) -> list[dict[str, Any]]:
    tasks: LookTasks = request.app.state.tasks
    return [
        {"name": name, "positions": model.positions, "layers": model.layers}
        for name, model in tasks.models.items()
    ]


async def ask(request: Request) -> Response:
    """Take a text into the queue."""
    tasks: LookTasks = request.app.state.tasks
    try:
        body = json.loads(await read_body(request))
        name, text, target = body["model"], body["text"], body.get("target")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _error(400, 'the body must be JSON: {"model": …, "text": …}')
    if not isinstance(name, str):
        return _error(400, "model must be a string")
    if not isinstance(text, str) or not isinstance(target, str | None):
        return _error(400, "text must be a string")
    if name not in tasks.models:
        return _error(404, f"only these models were named at start: {', '.join(tasks.models)}")
    model, most = tasks.models[name], request.app.state.most_tokens

    def read() -> LookTask:
        return tasks.ask(Exploration(model, model.read(text, most), target, text, most))

    task = await _computed(request, read)
    return JSONResponse(task.to_dict(), 202)


async def status(request: Request) -> Response:
    task = _task(request)
    return JSONResponse(task.to_dict()) if task else _gone()


async def forget(request: Request) -> Response:
    tasks: LookTasks = request.app.state.tasks
    return Response(status_code=204) if tasks.forget(request.path_params["id"]) else _gone()


async def whole(request: Request) -> Response:
    return await _part(request, parts.whole)


async def outcome(request: Request) -> Response:
    return await _part(request, Exploration.beside)


async def what_if(request: Request) -> Response:
    """Take the same text once more into the queue, for a model that is changed."""
    tasks: LookTasks = request.app.state.tasks
    task = _task(request)
    if task is None:
        return _gone()
    if task.state != "done":
        return _error(409, _unfinished(task))
    try:
        wish = Wish.from_dict(json.loads(await read_body(request)))
    except (ValueError, RecursionError):
        return _error(400, f"the body must be JSON: {FORM}")
    return JSONResponse(tasks.ask(task.look.changed(wish)).to_dict(), 202)


async def measure(request: Request) -> Response:
    """Take the same text once more into the queue, for a measure of it."""
    tasks: LookTasks = request.app.state.tasks
    task, name = _task(request), request.path_params["name"]
    if task is None:
        return _gone()
    if task.state != "done":
        return _error(409, _unfinished(task))
    if name not in MEASURES:
        return _error(404, f"a measure is one of {', '.join(MEASURES)}")
    return JSONResponse(tasks.ask(task.look.measured(name)).to_dict(), 202)


async def measured(request: Request) -> Response:
    return await _part(request, parts.measured)


async def link(request: Request) -> Response:
    return await _part(request, parts.link, "row", "column")


async def layer(request: Request) -> Response:
    return await _part(request, parts.heads, "layer")


async def contexts(request: Request) -> Response:
    return await _part(request, parts.contexts, "layer", "row")


async def head(request: Request) -> Response:
    return await _part(request, parts.head, "layer", "head")


async def row(request: Request) -> Response:
    return await _part(request, parts.row, "layer", "head", "row")


async def tile(request: Request) -> Response:
    return await _part(request, parts.tile, "layer", "head", "level", "down", "across")


async def _part(request: Request, make: Callable[..., Any], *names: str) -> Response:
    """Something of a finished look, computed in a thread, one at a time for each look.

    ``names`` are those of the numbers in the path that ``make`` is given.
    """
    task = _task(request)
    if task is None:
        return _gone()
    if task.state != "done":
        return _error(409, _unfinished(task))
    place = [request.path_params[name] for name in names]

    def locked() -> Any:
        with task.lock:
            return make(task.look, *place)

    made = await _computed(request, locked)
    if isinstance(made, bytes):
        return Response(made, media_type="application/octet-stream")
    return JSONResponse(made)


async def _computed(request: Request, work: Callable[[], Any]) -> Any:
    return await anyio.to_thread.run_sync(work, limiter=request.app.state.room)


def _task(request: Request) -> LookTask | None:
    tasks: LookTasks = request.app.state.tasks
    return tasks.get(request.path_params["id"])


def _unfinished(task: LookTask) -> str:
    return f"this look is {task.state}{': ' + task.error if task.error else ''}"


def _gone() -> Response:
    return _error(404, "there is no such look: it was cancelled, or others took its place")


def _error(code: int, text: str) -> Response:
    return JSONResponse({"error": text}, code)


async def missing(request: Request, error: Exception) -> Response:
    return _error(getattr(error, "status_code", 404), "there is nothing at this address")


async def refuse(request: Request, error: Exception) -> Response:
    """A mistake of the user's, in one line."""
    code = 429 if isinstance(error, BusyError) else 413 if isinstance(error, TooLargeError) else 422
    return _error(code, str(error))
