"""Complete competition files to start from, one per contest of the papers."""

from importlib.resources import files

from app.errors import InvalidInput

TEMPLATES = {2015: "microdata2015.toml", 2016: "transactions2016.toml"}


def template(year: int) -> str:
    """The competition file of that year's contest."""
    if year not in TEMPLATES:
        raise InvalidInput("templates: {names}", code="unknown_template", names=tuple(map(str, TEMPLATES)))
    return files(__name__).joinpath(TEMPLATES[year]).read_text(encoding="utf-8")
