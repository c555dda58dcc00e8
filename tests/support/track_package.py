"""Packages of plug-ins, as an installer writes them."""

from pathlib import Path


def install_package(folder: Path, package: str, code: str, *, version: str = "1.0") -> None:
    """Write a package of one module and its metadata, as an installer does."""
    metadata_folder = folder / f"{package}-{version}.dist-info"
    metadata_folder.mkdir(exist_ok=True)
    (folder / f"{package}.py").write_text(code)
    (metadata_folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (metadata_folder / "entry_points.txt").write_text(f"[anoncup.plugins]\n{package} = {package}:PLUGIN\n")
