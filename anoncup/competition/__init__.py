"""Read, write and complete competition files, and provide templates."""
