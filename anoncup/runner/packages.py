"""The packages of this interpreter: found by the template, imported by children inside the sandbox."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from anoncup import plugins
from anoncup.environments import find_environments_folder
from anoncup.runner.sandbox import library_paths


class PackageFinder:
    """Finds modules in folders that the sandbox does not let children list."""

    def __init__(self) -> None:
        own_entries = list(plugins.list_entries())
        self.runs_packages = bool(own_entries)
        self.entries = [*own_entries, *plugins.list_environments(find_environments_folder())]
        plugin_modules = {package.entry.partition(":")[0].partition(".")[0] for package, _ in own_entries}
        names = {*library_paths.list_local_modules(), *plugin_modules}
        self.specs = {name: find_spec(name) for name in names}

    @property
    def folders(self) -> list[Path]:
        """The folders and files of the modules."""
        specs = filter(None, self.specs.values())
        return [
            Path(location)
            for spec in specs
            for location in spec.submodule_search_locations or filter(None, [spec.origin])
        ]

    def find_spec(self, name: str, _: Sequence[str] | None = None, __: object = None) -> ModuleSpec | None:
        """Return the specification of a top-level module, as Python's import asks for it."""
        return self.specs.get(name)

    def load(self) -> None:
        """Import the packages, and describe those that have an interpreter of their own."""
        sys.meta_path.append(self)
        if self.entries:
            plugins.load_later(self.entries)
