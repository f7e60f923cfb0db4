"""What the services need from the world: Protocols, each implemented by at least one adapter."""
