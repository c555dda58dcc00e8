"""Wheels of the library and of packages, packed from their installed files, and the commands that run them.

Teams install from this service: under the same names, a package index may have the code of a stranger.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email import message_from_string
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.metadata import Distribution, distribution, distributions
from importlib.util import find_spec
from pathlib import Path, PurePath

from fastapi.responses import Response
from packaging.utils import canonicalize_name

from anoncup.competition.required_packages import list_packages
from anoncup.environments import find_environments_folder
from anoncup.errors import NotFound
from anoncup.plugins import INSTALLED, Package
from anoncup.rules.model import Rules
from app.core.http.archives import build_zip

_NOT_IN_WHEELS = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"}
"""Files that an installer adds to the metadata of a wheel, or writes anew."""


@dataclass(frozen=True)
class Wheel:
    """``project`` is the name by which it is installed, ``file`` that of the wheel."""

    project: str
    file: str
    content: bytes

    @cached_property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()

    @property
    def path(self) -> str:
        """The path at this service. It contains the digest: what it names never changes."""
        return f"/downloads/{self.digest[:16]}/{self.file}"

    def build_requirement(self, service_url: str, *, extra: str = "") -> str:
        return f"{self.project}{extra} @ {service_url}{self.path}#sha256={self.digest}"


def build_command(service_url: str, rules: Rules | None = None, *, scores: bool = False) -> str:
    """Return what to type for ``anoncup`` on a machine that has only uv, in any shell.

    ``scores``: whether the command needs the packages that score, which take 600 MB.
    """
    library, *packages = list_requirements(service_url, rules, scores=scores)
    return " ".join(
        ["uvx", "--from", f'"{library}"', *(f'--with "{package}"' for package in packages), "anoncup"]
    )


def list_requirements(service_url: str, rules: Rules | None, *, scores: bool = True) -> list[str]:
    """Return what teams install: the library, and the packages of the competition."""
    packages = _pack_packages(list_packages(rules) if rules else ())
    return [
        pack_library().build_requirement(service_url, extra="[score]" if scores else ""),
        *(wheel.build_requirement(service_url) for wheel in packages),
    ]


def download_wheel(digest: str, file: str) -> Response:
    """Return the wheel that has this path."""
    for wheel in (pack_library(), *_pack_packages(INSTALLED.packages)):
        if wheel.path == f"/downloads/{digest}/{file}":
            headers = {"Cache-Control": "public, max-age=31536000, immutable"}
            return Response(wheel.content, media_type="application/zip", headers=headers)
    raise NotFound("there is nothing here")


@lru_cache(maxsize=1)
def pack_library() -> Wheel:
    return pack(distribution("anoncup"))


def _pack_packages(packages: Iterable[Package]) -> Iterator[Wheel]:
    """Yield the wheels of packages that belong to a distribution and are still installed."""
    for package in packages:
        wheel = _pack_package(package.name, package.version, package.environment)
        if wheel is not None:
            yield wheel


@lru_cache(maxsize=32)
def _pack_package(name: str, version: str, environment: str) -> Wheel | None:
    folder = find_environments_folder() / environment
    found = (
        distributions(name=name, path=list(map(str, folder.glob("lib/python*/site-packages"))))
        if environment
        else distributions(name=name)
    )
    return next((pack(installed) for installed in found if installed.version == version), None)


def pack(installed: Distribution) -> Wheel:
    """Return the wheel that a distribution was installed from or, if it is editable, would be made into."""
    files = {name: path.read_bytes() for name, path in sorted(_iter_files(installed)) if _is_packed(name)}
    record = f"{next(name for name in files if '.dist-info/' in name).partition('/')[0]}/RECORD"
    digests = {name: urlsafe_b64encode(sha256(content).digest()) for name, content in files.items()}
    lines = [
        f"{name},sha256={digest.decode().rstrip('=')},{len(files[name])}" for name, digest in digests.items()
    ]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    project = canonicalize_name(installed.name)
    tag = message_from_string(installed.read_text("WHEEL") or "")["Tag"]
    with build_zip(files.items()) as archive:
        return Wheel(project, f"{project.replace('-', '_')}-{installed.version}-{tag}.whl", archive.read())


def _iter_files(installed: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield the names and paths of a distribution's files; of an editable one, also those in its source."""
    for file in installed.files or ():
        yield str(file), Path(str(file.locate()))
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        return
    for module in {entry.module.partition(".")[0] for entry in installed.entry_points}:
        spec = find_spec(module)
        for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
            yield from (
                (str(path.relative_to(folder.parent)), path) for path in folder.rglob("*") if path.is_file()
            )


def _is_packed(name: str) -> bool:
    parts = PurePath(name).parts
    return (
        not {"..", "__pycache__"} & {*parts} and parts[-1] not in _NOT_IN_WHEELS and not name.endswith(".pth")
    )
