"""Httpbin on a port of the system's choice, with the list of its routes, until stdin ends."""

import threading

from httpbin import app
from steps import until_stdin_ends
from werkzeug.serving import make_server

server = make_server("127.0.0.1", 0, app, threaded=True)
threading.Thread(target=server.serve_forever).start()
routes = sorted(f"{method} {rule}" for rule in app.url_map.iter_rules() for method in rule.methods or ())
until_stdin_ends({"url": f"http://127.0.0.1:{server.server_port}", "routes": routes})
