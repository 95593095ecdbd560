"""Read: Applications, their settings, and what they are made of."""
