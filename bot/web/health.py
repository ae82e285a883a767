"""``/healthz`` and ``/readyz``."""

from collections.abc import Callable

from fastapi import APIRouter
from fastapi.responses import JSONResponse

PATHS = frozenset({"/healthz", "/readyz"})


def health_routes(unready: Callable[[], list[str]]) -> APIRouter:
    """Routes for whoever watches the process.

    Args:
        unready: What keeps the process from doing its work; empty when nothing does.
    """
    router = APIRouter()

    @router.get("/healthz")
    async def healthz() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    @router.get("/readyz")
    async def readyz() -> JSONResponse:
        problems = unready()
        return JSONResponse(
            {"status": "unready" if problems else "ready", "problems": problems},
            status_code=503 if problems else 200,
        )

    return router
