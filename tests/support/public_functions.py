"""Public functions of a module."""


def list_public_functions(module: object) -> set[str]:
    return {
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__  # type: ignore[attr-defined]
    }
