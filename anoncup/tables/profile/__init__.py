"""The data profile of a table: identifying columns, header, counts, spelling of numbers."""
