"""What modular arithmetic alone costs: the limit that packed inner products can come close to."""

from time import thread_time

from gmpy2 import mpz, powmod

from lotor.crypto.paillier import PackedDotProducts, generate_keypair

_PRODUCTS = 128


class Prices:
    """Seconds of one product modulo n² and of one power p - 1 modulo p², the mean of samples."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        key = generate_keypair(bits)
        self._factors = [key.public.encrypt(m)._value for m in range(4)] * (_PRODUCTS // 4)
        self._modulus, self._exponent = key.public.n_squared, key.p - 1
        self._samples = 0
        self._products = self._powers = 0.0

    def sample(self) -> None:
        began = thread_time()
        value = mpz(1)
        for factor in self._factors:
            value = value * factor % self._modulus
        multiplied = thread_time()
        prime = self._exponent + 1
        powmod(value, self._exponent, prime * prime)
        self._powers += thread_time() - multiplied
        self._products += multiplied - began
        self._samples += 1

    @property
    def product(self) -> float:
        return self._products / self._samples / _PRODUCTS

    @property
    def power(self) -> float:
        return self._powers / self._samples


def limit(k: int, d: int, prices: Prices) -> float:
    """Seconds of a round: P's modular products and Comp's powers.

    A product for each byte of u and of a randomiser's exponent; two powers for each ciphertext, or
    one where a plaintext is shorter than p.
    """
    bits = prices.bits
    theta = [generate_keypair(bits).public.encrypt(0)] * d
    products = PackedDotProducts(theta, k, rounds=1)
    products.close()
    layout = products.layout
    powers = layout.ciphertexts * (1 if layout.plaintext_bits < bits // 2 else 2)
    return products.least_products_per_round * prices.product + powers * prices.power
