"""Theta in two shares, P's and Comp's: what the forms have in common that compute on shares."""
