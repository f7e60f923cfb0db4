"""Strict stand-ins, over HTTP on the loopback address, for the services that cannot be run here."""
