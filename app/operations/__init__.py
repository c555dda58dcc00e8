"""Running the service: commands, embedded servers, migration, backup, doctor, documentation."""
