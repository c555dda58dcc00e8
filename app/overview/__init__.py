"""Pages that show several features: the list of competitions, an overview, a submission."""
