"""`proctor.toml`: each way in which it can be wrong has its own code and names the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.config import Config, find_config, load_config
from proctor.errors import ConfigError
from proctor.proxy.trust import Trust
from proctor.proxy.way import way_to
from proctor.service_config import ServiceConfig, upstream_url
from tests.support import Project


def refused(project: Project, toml: str | bytes) -> ConfigError:
    """The error for a file with this content."""
    data = toml.encode() if isinstance(toml, str) else toml
    path = project.root / "proctor.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(path) in caught.value.message
    assert caught.value.exit_code == 2
    return caught.value


def test_a_whole_file_is_read_with_its_folder_as_root(project: Project) -> None:
    project.configure(
        'pass_hosts = ["cdn.test"]\n'
        '[services.orders]\nurl = "https://staging.test/api/"\nenv = ["ORDERS_URL"]\ntools = "POST /tools/{tool}"\n'
        'reads = ["query_*"]\nexpected_status = [503]\nrewrite = ["/", "/a~1b/*/~0"]\n'
        'identities = { alice = "env:ALICE_TOKEN" }\n'
        '[services.llm]\npreset = "openai"\nenv = ["MY_LLM"]\n'
    )
    config = load_config(project.root / "proctor.toml")
    orders, llm = config.service("orders"), config.service("llm")
    assert config.root == project.root.resolve()
    assert config.pass_hosts == ("cdn.test",)
    assert (orders.url, orders.reads, orders.expected_status) == ("https://staging.test/api", ("query_*",), (503,))
    assert orders.rewrite == ("/", "/a~1b/*/~0")
    assert orders.identity_variables == {"alice": "ALICE_TOKEN"}
    assert orders.base_url_variables == ("ORDERS_URL",)
    assert llm.base_url_variables == ("MY_LLM", "OPENAI_BASE_URL", "OPENAI_API_BASE")
    assert upstream_url("llm", llm, {}) == "https://api.openai.com/v1"


def test_the_file_is_found_upwards_and_its_absence_is_told_with_the_command(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "proctor.toml").write_text("", encoding="utf-8")
    assert find_config(deep) == tmp_path / "proctor.toml"
    (tmp_path / "a" / "proctor.toml").write_text("", encoding="utf-8")
    assert find_config(deep) == tmp_path / "a" / "proctor.toml"


def test_no_file_anywhere_above_is_config_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_config(tmp_path)
    assert (caught.value.code, caught.value.fix) == ("config_missing", "write one with: proctor init")


def test_a_file_that_cannot_be_opened_is_config_unreadable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "proctor.toml")
    assert caught.value.code == "config_unreadable"


def test_bytes_that_are_not_utf8_are_config_undecodable(project: Project) -> None:
    assert refused(project, b"# gr\xfc\xdfe\n").code == "config_undecodable"


def test_what_is_not_toml_is_config_syntax_with_its_line(project: Project) -> None:
    error = refused(project, '[services.x]\nurl = "http://x.test\n')
    assert error.code == "config_syntax"
    assert "line 2" in error.message


TABLES = ("agent", "cassettes", "judge", "pass_hosts", "record", "redact", "services")


@pytest.mark.parametrize(
    ("toml", "key", "fix"),
    [
        ('pass_host = []\n[services.x]\nurl="http://x.test"', "pass_host", 'did you mean "pass_hosts"?'),
        ('[service.x]\nurl="http://x.test"\n[services.y]\nurl="http://y.test"', "service", 'did you mean "services"?'),
        ('[services.x]\nurl="http://x.test"\nkey_header=[]', "services.x.key_header", 'did you mean "key_headers"?'),
        ('root = "/"\n[services.x]\nurl="http://x.test"', "root", f"known: {', '.join(TABLES)}"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_right_one(project: Project, toml: str, key: str, fix: str) -> None:
    error = refused(project, toml)
    assert (error.code, error.fix) == ("config_unknown_key", fix)
    assert f'unknown key "{key}"' in error.message


URL = 'url = "http://x.test"\n'


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("", "services: Field required"),
        ("[services]", "no service is configured: add a [services.NAME] table"),
        ("services = 3", "services: "),
        ("[services.x]\nenv = []", "a service needs a url (or a preset, or a world)"),
        ('[services.x]\nurl = "x.test"', '"x.test" is no http(s) URL with a host'),
        ('[services.x]\nurl = "ftp://x.test"', "is no http(s) URL with a host"),
        ('[services.x]\nurl = "http://"', "is no http(s) URL with a host"),
        ('[services.x]\nurl = "http://[x"', "services.x.url: "),
        ('[services.x]\nurl = "http://alice:pw@x.test"', "a URL must not hold a credential"),
        ('[services.x]\nurl = "http://alice@x.test"', "a URL must not hold a credential"),
        ('[services.x]\nurl = "http://x.test?a=1"', "no query, no fragment"),
        ('[services.x]\nurl = "http://x.test#a"', "no query, no fragment"),
        (f'[services.x]\n{URL}tools = "/tools/{{tool}}"', 'reads "METHOD /path/{tool}"'),
        (f'[services.x]\n{URL}tools = "POST /tools"', "with {tool} once"),
        (f'[services.x]\n{URL}tools = "POST /{{tool}}/{{tool}}"', "with {tool} once"),
        (f'[services.x]\n{URL}identities = {{ alice = "sk-live-1" }}', "never a credential itself"),
        (f'[services.x]\n{URL}identities = {{ alice = "env:" }}', 'identity "alice" must name a variable'),
        (f'[services.x]\n{URL}rewrite = ["next"]', '"next" is no JSON pointer: it reads "/items/*/href"'),
        (f'[services.x]\n{URL}rewrite = [""]', '"" is no JSON pointer'),
        (f'[services.x]\n{URL}rewrite = ["/a", "/b~2"]', '"/b~2" is no JSON pointer'),
        (f"[services.x]\n{URL}expected_status = [200]", "services.x.expected_status.0: "),
        ('[services.x]\npreset = "openia"', "services.x.preset: "),
        ('[services.x]\nworld = "shop.Shop"', '"shop.Shop" must read "package.module:Class"'),
        ('[services.x]\npreset = "openai"\nworld = "shop:Shop"', "a world has tools: make them two services"),
        (f'[services."a/b"]\n{URL}', 'service name "a/b" may hold letters, digits, "-" and "_" only'),
        (f"[services._x]\n{URL}", 'service name "_x" may hold'),
    ],
)
def test_a_bad_value_is_named_with_its_place_and_the_reason(project: Project, toml: str, told: str) -> None:
    error = refused(project, toml)
    assert error.code == "config_bad_value"
    assert told in error.message


@pytest.mark.parametrize("secret", ["s3cret-password", "sk-live-1"])
def test_the_error_for_a_credential_in_the_file_does_not_repeat_it(project: Project, secret: str) -> None:
    assert secret not in str(refused(project, f'[services.x]\nurl = "http://a:{secret}@x.test"'))
    assert secret not in str(refused(project, f'[services.x]\n{URL}identities = {{ alice = "{secret}" }}'))


@pytest.mark.parametrize(
    "url",
    [
        "http://alice:s3cret@[x",
        "http://alice:s3cret：1@x.test",
        "http://alice:[s3cret]@x.test",
        "http://alice:s3cret#1@x.test:80",
        "http://alice:s3cret/1@x.test:80",
        "htps://alice:s3cret@x.test",
        "alice:s3cret@x.test:80",
    ],
)
def test_the_error_for_an_address_shows_no_password_however_it_is_written(project: Project, url: str) -> None:
    for key in ("url", "proxy"):
        service = ServiceConfig.model_validate({"url": "http://x.test", key: "env:ADDRESS"})
        with pytest.raises(ConfigError) as from_variable:
            way_to("x", service, upstream_url("x", service, {"ADDRESS": url}), Trust(project.root), {"ADDRESS": url})
        assert "s3cret" not in str(from_variable.value)
        assert "s3cret" not in str(refused(project, f'[services.x]\n{URL if key == "proxy" else ""}{key} = "{url}"'))


@pytest.mark.parametrize("port", ["99999", "abc"])
def test_a_url_with_a_port_that_cannot_be_is_refused_when_the_file_is_read(project: Project, port: str) -> None:
    assert refused(project, f'[services.x]\nurl = "http://x.test:{port}"').code == "config_bad_value"


def test_a_url_from_the_environment_is_read_when_it_is_needed() -> None:
    service = ServiceConfig(url="env:ORDERS_REAL")
    assert upstream_url("orders", service, {"ORDERS_REAL": "https://staging.test/api/"}) == "https://staging.test/api"


@pytest.mark.parametrize(
    ("environ", "code"),
    [
        ({}, "service_url_unset"),
        ({"ORDERS_REAL": ""}, "service_url_unset"),
        ({"ORDERS_REAL": "staging.test"}, "service_url_bad"),
        ({"ORDERS_REAL": "http://u:p@staging.test"}, "service_url_bad"),
    ],
)
def test_a_url_variable_that_is_unset_or_no_url_is_told_by_service_and_variable(
    environ: dict[str, str], code: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        upstream_url("orders", ServiceConfig(url="env:ORDERS_REAL"), environ)
    assert caught.value.code == code
    assert 'service "orders"' in caught.value.message
    assert "ORDERS_REAL" in caught.value.message


def test_an_unknown_service_is_told_with_the_nearest() -> None:
    config = Config(services={"orders": ServiceConfig(url="http://x.test")}, root=Path("/p"))
    with pytest.raises(ConfigError) as caught:
        config.service("order")
    assert (caught.value.code, caught.value.fix) == ("unknown_service", 'did you mean "orders"?')


def test_two_services_that_claim_one_variable_are_refused(project: Project) -> None:
    two = ('[services.a]\nurl = "http://a"\nenv = ["X"]\n', '[services.b]\nurl = "http://b"\nenv = ["X"]\n')
    assert '"a" and "b" both claim X' in refused(project, "".join(two)).message
    presets = '[services.a]\npreset = "openai"\n[services.b]\npreset = "openai"'
    assert "OPENAI_BASE_URL" in refused(project, presets).message


def test_a_pattern_names_no_one_call_so_it_is_in_both_lists_only_as_it_stands() -> None:
    assert ServiceConfig(url="http://x.test", reads=("[7]",), writes=("[[]7]",)).reads == ("[7]",)
    with pytest.raises(ValueError, match="stands in reads"):
        ServiceConfig(url="http://x.test", reads=("[7]",), writes=("[7]",))
