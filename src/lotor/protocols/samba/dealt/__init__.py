"""SAMBA on shares with a dealer: two servers take the argmax of scores that neither can see."""
