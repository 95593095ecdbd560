"""What lies in the repository of a fleet, read and checked."""
