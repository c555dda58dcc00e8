"""Data profiles of organizers' tables: identifying columns, headers, counts and number formats."""
