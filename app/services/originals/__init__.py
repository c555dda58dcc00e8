"""A contest's data: what organizers know of it, and what teams get to begin with."""
