"""What several tests share: contests, people, servers, clients and reference tables."""
