"""Who gets what from the pages, a module per area; see ``test_routes``."""
