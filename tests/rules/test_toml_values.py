"""Tables of a competition file are read into settings."""

from anoncup.rules.toml_values import TomlTable, read_text


def test_keys_may_be_named_like_the_arguments_of_the_reader() -> None:
    keys = {"settings": "a", "self": "b"}
    assert TomlTable(keys, "track").read_as(dict, settings=read_text, self=read_text) == keys
