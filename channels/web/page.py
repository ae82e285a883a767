"""The pages, each one self-contained response with a policy that lets only its own code run."""

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files

from fastapi import APIRouter, Response

_SCRIPTS = ("markdown.js", "state.js", "view.js", "composer.js", "link.js", "chat.js")


@dataclass(frozen=True, slots=True)
class Page:
    """An HTML page and the content security policy that names its style and script by hash."""

    html: bytes
    policy: str

    def response(self) -> Response:
        """The page as a response; browsers ask again each time, so an upgrade shows at once."""
        headers = {"content-security-policy": self.policy, "cache-control": "no-cache"}
        return Response(self.html, media_type="text/html", headers=headers)


def build_page(html: str, style: str, script: str) -> Page:
    """Put style and script into a page at ``<!-- style -->`` and ``<!-- script -->``. Pure."""
    page = html.replace("<!-- style -->", f"<style>{style}</style>")
    page = page.replace("<!-- script -->", f'<script type="module">{script}</script>')
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src 'self' blob: data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
    return Page(page.encode(), policy)


def chat_page() -> Page:
    """The chat page."""
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    return build_page(_asset("chat.html"), _asset("theme.css") + _asset("chat.css"), script)


def login_page() -> Page:
    """The login page."""
    return build_page(_asset("login.html"), _asset("theme.css") + _asset("login.css"), _asset("login.js"))


def page_routes() -> APIRouter:
    """``GET /``."""
    router = APIRouter()
    page = chat_page()

    @router.get("/")
    async def show() -> Response:
        return page.response()

    return router


def _asset(name: str) -> str:
    return files("channels.web").joinpath("page", name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
