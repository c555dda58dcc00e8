"""The documentation at ``/docs``: the site that ``make docs`` builds from the folder ``docs``."""

import os
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.http.middleware import SECURITY_HEADERS
from app.core.pages.pages import Page

_INLINE_SCRIPT_PATTERN = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_BUNDLE_PATTERN = re.compile(r'<script src="([^"]+/bundle\.[^"]+)"')
_DIALOG_STYLE_PATTERN = re.compile(r"='([^'\\]*\{box-sizing:border-box\})'")
"""The style sheet of the search dialog, which the theme's script adds to the page as an element."""


class DocumentationFiles(StaticFiles):
    """The files of the site; each page has a policy that allows its own inline scripts and styles."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True, check_dir=False)
        self.folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_built = (self.folder / "index.html").exists()
        app: ASGIApp = super().__call__ if is_built else _render_missing_site(Request(scope))
        await app(scope, receive, send)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if response.status_code == 404 and path.startswith("ja/"):
            # Most pages have no Japanese edition. The menu of languages asks for a sitemap of each language.
            return RedirectResponse(f"/docs/{path.removeprefix('ja/')}")
        if response.status_code == 404:  # the service's own page: links of the site's page work at one depth
            raise HTTPException(404)
        return response

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = "no-cache"  # a browser asks each time whether its copy is current
        if str(full_path).endswith(".html"):
            policy = _build_policy(Path(full_path), stat_result.st_mtime_ns)
            response.headers["Content-Security-Policy"] = policy
        return response


files = DocumentationFiles(Path(__file__).parents[2] / "site")


def _render_missing_site(request: Request) -> Response:
    page = Page(request, None)
    detail = page.t(
        "The documentation has not been built. The operator can build it with the command “make docs”."
    )
    return page.render("core/refusal.html", status=404, detail=detail)


@lru_cache(maxsize=256)
def _build_policy(page: Path, _changed_ns: int) -> str:
    """Return the usual policy with the hashes of a page's inline scripts and of the search dialog's style.

    Icons are ``data:`` addresses in style sheets. The time of the last change is only part of the cache key.
    """
    html = page.read_text(encoding="utf-8")
    scripts = _format_hashes(_INLINE_SCRIPT_PATTERN.findall(html))
    bundles = [(page.parent / path).read_text(encoding="utf-8") for path in _BUNDLE_PATTERN.findall(html)]
    styles = _format_hashes(style for text in bundles for style in _DIALOG_STYLE_PATTERN.findall(text))
    return (
        SECURITY_HEADERS["Content-Security-Policy"]
        .replace("script-src 'self'", f"script-src 'self'{scripts}")
        .replace("style-src 'self'", f"style-src 'self'{styles}")
        .replace("img-src 'self'", "img-src 'self' data:")
    )


def _format_hashes(sources: Iterable[str]) -> str:
    """Return the sources of a policy that allow these inline texts, each after a space."""
    digests = [b64encode(sha256(source.encode()).digest()).decode() for source in sources]
    return "".join(f" 'sha256-{digest}'" for digest in digests)
