"""SEAL's view of a ring and its primes, checked for security by SEAL itself."""

from collections.abc import Sequence

from lotor.core.errors import CryptoError
from lotor.crypto.seal.binding import ContextData, ParmsId, SealContext, seal


def seal_context(
    scheme: object,
    degree: int,
    primes: Sequence[int],
    security: object,
    plain_modulus: int | None = None,
) -> SealContext:
    """A context that SEAL accepts; `scheme` and `security` are values of SEAL's own enums."""
    library = seal()
    settings = library.EncryptionParameters(scheme)
    settings.set_poly_modulus_degree(degree)
    settings.set_coeff_modulus([library.Modulus(prime) for prime in primes])
    if plain_modulus is not None:
        settings.set_plain_modulus(plain_modulus)
    context = library.SEALContext(settings, True, security)
    if not context.parameters_set():
        raise CryptoError(
            f"SEAL refuses this parameter set: {context.parameters_error_message()}; "
            "choose one of the named sets"
        )
    return context


def level_ids(context: SealContext) -> list[ParmsId]:
    """SEAL's name of each level, from the one with all primes down."""
    ids: list[ParmsId] = []
    data: ContextData | None = context.first_context_data()
    while data is not None:
        ids.append(data.parms_id())
        data = data.next_context_data()
    return ids
