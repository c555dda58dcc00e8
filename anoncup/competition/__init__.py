"""The competition file: model, parser, writer, parameters, rounds, templates."""
