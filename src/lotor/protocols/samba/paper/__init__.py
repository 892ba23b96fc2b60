"""SAMBA as published: masked scores, permuted by Controller and compared by Comp."""
