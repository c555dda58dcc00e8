"""REST under /api/v1: one router per resource."""
