"""Keys for tests only: everybody can read their primes, so they protect nothing."""

from functools import cache

from lotor.crypto.paillier import PrivateKey

_PRIMES = {
    512: (
        "c66f10288860a012eb226c40ceea9b7dd7368387612a8da72724ab29aff7b1d1",
        "cc90612887b1c59f79366720c181fa24559dcbcccea981eb8b88532f08490a3f",
    ),
    2048: (
        (
            "fd2941892b878321a29c7c874bfa8f7837a3a64508528fbc8375c96de33b54b1f5d5a47a60b00874"
            "da07e876162d8899333daf26b5b8e095f4f3b8c03f8202776abafe5eb62bee43c82495624cccb4be"
            "d1446170d8cef3eef64a6643cdb252fed73c322b03f477b628508ef1ac0b5c0056be249859798ede"
            "9ebf3b29ab06226f"
        ),
        (
            "f7a594d0bf39d22d210973043556f9aa5c8ef9adfa016bbc0d2f9dadb4c91ce1e04427d4d011b0e6"
            "cbe6e3bce4e70b69cf5ff4bcefc995daa2b80ae6ee4cdd441992a5d9d2925152f0fd71105f2178f7"
            "4d86ad2cce00edf0fd51402ffca7cda690a400ac01b53b239a349015975485d42a3645d2001dcea9"
            "2dbb4651b336d9f7"
        ),
    ),
    3072: (
        (
            "f355edc0cec7288d79baf7fc15a672b247f3c5e7185c45fa8c7db77ba5beb28cd4611c743f8f3ff4"
            "2a3a1dc8e3dc5d39e216ce54bb159c3374a3e7ddc88f85b71f095cc713d6ab2bc07db844f23cf482"
            "63c20d21515a5fe0bf0219c2efb619cd50ad505e24330825550493fece8c373402f40ba0f62c3a4b"
            "923d0909a329ee6f6c9000a6299ebadd100a8a9586713e7bb4be0a60b482c2d45cf1b8d4972de8c3"
            "7ff1fa0cd344269d443653ec87aa61a9c4c2e901028604c6909b1f8fbfec50b3"
        ),
        (
            "cff95050d51e4c6f6a3b457f5a33641d8a99245c6ab6722493f2ed685049147437f9ef71665edc68"
            "760351aa50ad71f29b5e6dd36d3356e7bd49a9eb10ed353e3ec4b6168952718d07925fec82356d1e"
            "13c5587914e7d38ce04dd12add8ad67a5d1c5d660a88d46df4ff9e77cb443c1ee2713f5696662689"
            "ec4b04b66bd4a924567d4034004f2cba697a268ef421dfd4aa746d3ae48fba8c3074f499a1595f59"
            "82ed77da1a531c6f0b66efb84328a487d088d823b9dc94b8dd2f3ab5183a9329"
        ),
    ),
}


@cache
def fixed_key(bits: int) -> PrivateKey:
    """The test key of 512, 2048 or 3072 bits; the first use of the smallest warns."""
    p, q = _PRIMES[bits]
    return PrivateKey(int(p, 16), int(q, 16))
