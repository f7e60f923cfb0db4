"""What a change must pass before it lands."""
