"""The figures of the paper's Section 6 and of its Appendix C, one file each."""
