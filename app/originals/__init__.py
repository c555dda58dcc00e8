"""Original data: import, organizers' files, samples, kits, allocation, threshold reports."""
