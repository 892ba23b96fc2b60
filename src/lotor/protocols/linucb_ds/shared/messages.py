"""What the shared form exchanges after the terms and theta's shares, in the order of its steps.

`place` is a coordinate of theta, a batch of products or the number of pulls so far, in a fixed
width; all else has a width that is fixed for a run. The messages of circuits are in
garbled/messages.py; docs/security/private-linear.md numbers the steps.
"""

from lotor.protocols.garbled.messages import GarbledMessage

WIRE = "linucb-ds-shared/3/"


class ProductPublicKey(GarbledMessage, frozen=True, tag=WIRE + "product-key"):
    """Step 2, Comp to P: the BFV key that its share of theta is encrypted under."""

    public: bytes


class CoordinatesWanted(GarbledMessage, frozen=True, tag=WIRE + "coordinates-wanted"):
    """Step 2, P to Comp: send some more coordinates, from this one on."""

    place: bytes


class EncryptedCoordinate(GarbledMessage, frozen=True, tag=WIRE + "coordinate"):
    """Step 2, Comp to P: one coordinate of its share of theta, encrypted."""

    place: bytes
    coordinate: bytes


class ProductBatch(GarbledMessage, frozen=True, tag=WIRE + "products"):
    """Step 4, P to Comp, ahead: U·b + V of a batch of rounds, encrypted and flooded."""

    place: bytes
    products: bytes


class CoveredRows(GarbledMessage, frozen=True, tag=WIRE + "rows"):
    """Step 5, P to Comp: u - U of all arms, in P's secret order, and P's shares of scores less
    those that it chose for the circuit."""

    place: bytes
    rows: bytes
    shares: bytes


class SumColumns(GarbledMessage, frozen=True, tag=WIRE + "sum-columns"):
    """Step 7, P to Comp: the sum of the pulled arms, as choices in transfers."""

    place: bytes
    columns: bytes


class SumWords(GarbledMessage, frozen=True, tag=WIRE + "sum-words"):
    """Step 8, Comp to P: its share of theta in words that only the choices open."""

    place: bytes
    words: bytes
