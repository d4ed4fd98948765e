"""Moto's threaded server on a port of the system's choice, until stdin ends."""

from moto.server import ThreadedMotoServer
from steps import until_stdin_ends

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
until_stdin_ends({"url": f"http://{host}:{port}"})
