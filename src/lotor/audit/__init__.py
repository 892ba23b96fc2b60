"""Attacks on recorded views: what each party of a protocol can really find out."""
