"""Expected statuses of the pages for each audience, one module per area; see ``test_routes``."""
