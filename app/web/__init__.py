"""Pages, in rooms by audience: each router beside its templates, its sheets and scripts in ``static``."""
