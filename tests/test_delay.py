"""The delaying proxy is a network: late, but complete and in order."""

import socket
import threading

from delay import FarAway, Weather


def echo(listener: socket.socket) -> None:
    """Send back whatever one caller sends."""
    caller, _ = listener.accept()
    with caller:
        while data := caller.recv(65_536):
            caller.sendall(data)


def write(caller: socket.socket, data: bytes) -> None:
    """In many small pieces."""
    for start in range(0, len(data), 997):
        caller.sendall(data[start : start + 997])


def is_closed(caller: socket.socket) -> bool:
    """Wait for what comes next, and say whether it is the end."""
    try:
        return not caller.recv(1)
    except ConnectionError:
        return True


def test_bytes_arrive_in_order_however_often_they_stall() -> None:
    sent = b"".join(number.to_bytes(4, "big") for number in range(50_000))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering = threading.Thread(target=echo, args=(listener,))
        answering.start()
        weather = Weather(delay=0.002, stall=0.02, stalls=0.3)
        with (
            FarAway(listener.getsockname(), weather) as proxy,
            socket.create_connection(proxy.address) as caller,
        ):
            writing = threading.Thread(target=write, args=(caller, sent))
            writing.start()
            got = bytearray()
            while len(got) < len(sent) and (data := caller.recv(65_536)):
                got += data
            writing.join()
        answering.join()
    assert bytes(got) == sent


def test_nothing_passes_while_it_is_shut() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answering = threading.Thread(target=echo, args=(listener,))
        answering.start()
        with FarAway(listener.getsockname(), Weather()) as proxy:
            with socket.create_connection(proxy.address) as caller:
                caller.sendall(b"there")
                assert caller.recv(5) == b"there"
                proxy.shut()
                assert is_closed(caller)
            with socket.create_connection(proxy.address) as late:
                assert is_closed(late)
            proxy.refuses()
        answering.join()
