"""A party that survives a crash at any moment: links, journal and host."""
