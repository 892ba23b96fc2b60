"""How a field of a message is protected, for the leakage tables of forms."""

from enum import StrEnum


class Protection(StrEnum):
    """What each form's `MESSAGES` say of a field; tests hold recorded views against it."""

    PUBLIC = "public"
    SIGNED = "public, signed by its maker"
    SEALED = "HPKE, to one recipient"
    AES_GCM = "AES-GCM, owners and Comp"
    PAILLIER = "Paillier, to the customer"
    BETWEEN_SERVERS = "known to both servers; tells nothing of scores"
    TRANSFER = "the choices in oblivious transfers, hidden from who answers them"
    GARBLED = "garbled: uniform to who has not both labels of a wire"
    PAD = "under a one-time pad of an owner and Comp"
    USERS_PAD = "under one-time pads that users know, and the server does not"
    OWN_PAD = "under one-time pads of one user, which the pad server knows and the server does not"
    PRODUCTS = "words of products, uniform to who chose and does not know the other hash"
    CHOSEN_PAD = "less a random number that its sender chose in transfers"
    HIDDEN = "a matrix times a random one and a vector plus a random one: uniform"
    P_ONLY = "the arms, which P knows: under TLS alone"
    MASKED = "one of two shares of a value under a mask that neither server knows"
    SHARE = "one of two shares: uniform by itself"
    KEY = "a key, under TLS alone"
