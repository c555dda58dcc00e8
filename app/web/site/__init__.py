"""Parts that all pages share: rendering, frame, language and style."""
