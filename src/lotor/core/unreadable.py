"""What decoding raises where bytes are not what they should be."""

from typing import Final

import msgspec

# msgspec checks the encoding of text late, and gives up on very deep nesting with a RecursionError,
# even in a field that it would skip.
UNREADABLE: Final = (msgspec.DecodeError, UnicodeError, RecursionError)
