"""OpenAPI: a description of the explorer's few endpoints, for programs."""

from __future__ import annotations

from typing import Any

ERROR = {"description": "What is wrong, in one line", "content": {"application/json": {}}}
JSON = "application/json"
LOOK = {
    "type": "object",
    "required": ["id", "model", "state", "tokens", "layers", "done", "error"],
    "properties": {
        "id": {"type": "string"},
        "model": {"type": "string"},
        "state": {"enum": ["queued", "running", "done", "failed", "cancelled"]},
        "tokens": {"type": "integer"},
        "layers": {"type": "integer"},
        "done": {"type": "integer", "description": "Layers that have run"},
        "error": {"type": "string"},
    },
}
HEAD = "/api/looks/{id}/layers/{layer}/heads/{head}"


def description(most_tokens: int) -> dict[str, Any]:
    """The document at /openapi.json."""
    import regard

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "regard explorer",
            "version": regard.__version__,
            "description": f"Attention of the models named at start. Texts of up to {most_tokens} "
            "tokens; one runs at a time, others wait.",
        },
        "paths": {
            "/api/models": {"get": _read("Models and limits", "application/json")},
            "/api/looks": {
                "post": {
                    "summary": "Let a model read a text",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": _question()}},
                    },
                    "responses": {
                        "202": _answer("Queued", LOOK),
                        **{code: ERROR for code in ("400", "404", "413", "415", "422", "429")},
                    },
                }
            },
            "/api/looks/{id}/outcome": {
                "get": _read("What the model puts out; of a what-if before and after", JSON),
                "parameters": _path("id"),
            },
            "/api/looks/{id}/what-if": {
                "post": {
                    "summary": "Let the model, changed, read the text again",
                    "requestBody": {
                        "required": True,
                        "content": {JSON: {"schema": _wish()}},
                    },
                    "responses": {
                        "202": _answer("Queued", LOOK),
                        **{code: ERROR for code in ("400", "404", "409", "422", "429")},
                    },
                },
                "parameters": _path("id"),
            },
            "/api/looks/{id}/measures/{name}": {
                "post": {
                    "summary": "Let the model read the text again, for a measure of it",
                    "responses": {
                        "202": _answer("Queued", LOOK),
                        **{code: ERROR for code in ("404", "409", "422", "429")},
                    },
                },
                "parameters": _path("id", "name"),
            },
            "/api/looks/{id}/measured": {
                "get": _read("The layers of a measure, in the places of the look's own", JSON),
                "parameters": _path("id"),
            },
            "/api/looks/{id}": {
                "get": _read("How far it is", "application/json", LOOK),
                "delete": {
                    "summary": "Stop it and forget it",
                    "responses": {"204": {"description": "Gone"}, "404": ERROR},
                },
                "parameters": _path("id"),
            },
            "/api/looks/{id}/document": {
                "get": _read("All that the page shows of it", "application/json"),
                "parameters": _path("id"),
            },
            "/api/looks/{id}/links/{row}/{column}": {
                "get": _read("One link's weight in every head of every layer", "application/json"),
                "parameters": _path("id", "row", "column"),
            },
            "/api/looks/{id}/layers/{layer}": {
                "get": _read("Kind, entropy and small picture of each head", "application/json"),
                "parameters": _path("id", "layer"),
            },
            "/api/looks/{id}/layers/{layer}/contexts/{row}": {
                "get": _read("What one token takes in every head", "application/json"),
                "parameters": _path("id", "layer", "row"),
            },
            HEAD: {
                "get": _read("Queries, keys and values of one head", "application/json"),
                "parameters": _path("id", "layer", "head"),
            },
            f"{HEAD}/rows/{{row}}": {
                "get": _read("What one token attends to", "application/json"),
                "parameters": _path("id", "layer", "head", "row"),
            },
            f"{HEAD}/tiles/{{level}}/{{down}}/{{across}}": {
                "get": _read(
                    "128 x 128 cells, each the largest of 2^level x 2^level weights; float32",
                    "application/octet-stream",
                ),
                "parameters": _path("id", "layer", "head", "level", "down", "across"),
            },
        },
    }


def _question() -> dict[str, Any]:
    text = {"type": "string"}
    properties = {"model": text, "text": text, "target": text}
    return {"type": "object", "required": ["model", "text"], "properties": properties}


def _wish() -> dict[str, Any]:
    places = {"type": "array", "items": {"type": "integer", "minimum": 0}}
    several = {"type": "array", "items": places}
    link = {"type": "array", "description": "[query, key, layer, head], head null: every head"}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "masked": places,
            "cut": {"type": "array", "items": link},
            "removed": several | {"description": "[layer, head]"},
            "factor": {"type": "number", "minimum": 0, "maximum": 100},
            "temperature": {"type": "number", "minimum": 0.01, "maximum": 100},
        },
    }


def _read(summary: str, kind: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    content = {kind: {} if schema is None else {"schema": schema}}
    good = {"description": summary, "content": content}
    return {"summary": summary, "responses": {"200": good, "404": ERROR, "409": ERROR}}


def _answer(what: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": what, "content": {"application/json": {"schema": schema}}}


def _path(*names: str) -> list[dict[str, Any]]:
    kinds = {"id": "string", "name": "string"}
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": kinds.get(name, "integer")},
        }
        for name in names
    ]
