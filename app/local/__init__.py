"""What makes one machine enough: Postgres and Valkey from wheels, and the service's processes, kept alive."""
