"""LinUCB-DS on shares with a dealer: P and Comp take the argmax of scores that neither can see."""
