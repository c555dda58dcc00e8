"""Entry points of a package that is not installed."""

from pathlib import Path


def install(folder: Path, package: str, code: str, *, version: str = "1.0") -> None:
    """A package of one module, as an installer leaves it."""
    about = folder / f"{package}-{version}.dist-info"
    about.mkdir(exist_ok=True)
    (folder / f"{package}.py").write_text(code)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(f"[anoncup.plugins]\n{package} = {package}:PLUGIN\n")
