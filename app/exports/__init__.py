"""Archives: results and exports."""
