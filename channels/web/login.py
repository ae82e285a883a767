"""Logging in with the token, and out."""

from collections.abc import Callable

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from channels.web.page import login_page
from channels.web.security import WebSecurity, equal
from channels.web.session import COOKIE, SESSION_SECONDS, TryLimit, new_session


class _Login(BaseModel):
    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=1000)


def login_routes(security: WebSecurity, tries: TryLimit, now: Callable[[], float]) -> APIRouter:
    """``GET /login``, ``POST /login`` and ``POST /logout``.

    Args:
        security: Holds the token.
        tries: Limits wrong ones.
        now: POSIX time, for the age of sessions.
    """
    router = APIRouter()
    page = login_page()

    @router.get("/login")
    async def show() -> Response:
        return page.response()

    @router.post("/login", status_code=204)
    async def login(given: _Login, request: Request) -> Response:
        if tries.exhausted():
            raise HTTPException(429, "Too many wrong tokens. Wait a minute.", {"retry-after": "60"})
        response = Response(status_code=204)
        if security.token is None:
            return response
        if not equal(given.token.strip(), security.token):
            tries.failed()
            raise HTTPException(401, "The token is wrong.")
        response.set_cookie(
            COOKIE,
            new_session(security.token, now()),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    @router.post("/logout", status_code=204)
    async def logout() -> Response:
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response

    return router
