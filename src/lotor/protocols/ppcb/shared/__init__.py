"""PPCB by two servers alone: nobody deals, and the chosen arm alone learns."""
