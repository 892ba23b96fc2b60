"""What every scheme on SEAL needs: the library itself, frames for its bytes, secure rings."""
