"""TLS to a vetted address: the server is known by its name, wherever its address came from."""

import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.fakes.dialling import PUBLIC, Dial, always

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import Dialect, ToolProtocol, ToolResult
from botforge.ports.tools import Endpoint, ToolCall

NAME = "tools.example.com"


@dataclass(slots=True)
class TlsServer:
    port: int
    trusting: ssl.SSLContext  # of a client that trusts its certificate
    names: list[str | None] = field(default_factory=list[str | None])  # asked for by SNI
    hosts: list[str | None] = field(default_factory=list[str | None])  # of the Host header


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TlsServer]:
    certificate, key = _certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            state.hosts.append(self.headers["Host"])
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"success": True, "result": "done"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that does not trust us goes away; that is its right."""

    http = Server(("127.0.0.1", 0), Handler)
    state = TlsServer(http.server_port, ssl.create_default_context(cafile=str(certificate)))
    context.sni_callback = lambda _socket, name, _context: state.names.append(name)
    http.socket = context.wrap_socket(http.socket, server_side=True)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Self-signed, for NAME alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a tool server of a test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


def _call(server: TlsServer, host: str, tls: ssl.SSLContext | None) -> ToolResult:
    transport = ByProtocolTransport(resolve=always(PUBLIC), dial=Dial(server.port), tls=tls)
    endpoint = Endpoint(f"https://{host}:8443/tools", ToolProtocol.REST, Dialect.REST)
    return transport.call(endpoint, ToolCall("pay", {}, {}, None), deadline=Deadline.after(30))


def test_the_server_is_asked_for_by_its_name_though_an_address_is_dialled(server: TlsServer) -> None:
    assert _call(server, NAME, server.trusting).content == "done"

    assert server.names == [NAME]
    assert server.hosts == [f"{NAME}:8443"]


@pytest.mark.parametrize("spelling", ["Tools.Example.com", "tools.example.com."])
def test_another_spelling_of_the_name_is_the_same_server(server: TlsServer, spelling: str) -> None:
    assert _call(server, spelling, server.trusting).content == "done"

    assert server.names == [NAME]


def test_a_certificate_for_another_name_gets_no_request(server: TlsServer) -> None:
    with pytest.raises(ToolServerError) as raised:
        _call(server, "other.example.com", server.trusting)

    assert (raised.value.code, raised.value.delivery) == ("tool_server_unreachable", Delivery.NOT_SENT)
    assert server.hosts == []


def test_a_certificate_of_an_unknown_issuer_gets_no_request(server: TlsServer) -> None:
    with pytest.raises(ToolServerError) as raised:
        _call(server, NAME, None)

    assert raised.value.delivery is Delivery.NOT_SENT
    assert server.hosts == []


def test_no_proxy_of_the_environment_is_asked(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "ALL_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert _call(server, NAME, server.trusting).content == "done"
