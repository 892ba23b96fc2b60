"""HELBA as published: the server computes on CKKS ciphertexts."""
