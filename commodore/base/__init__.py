"""The foundation of all rooms, independent of GitOps."""
