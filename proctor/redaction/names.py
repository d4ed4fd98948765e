"""Names under which a value is a secret: exact lists, so that `max_tokens` and `next_page_token` are none.

A name counts without its case, `-`, `_` and `.`: `Client-Secret`, `client_secret` and `clientSecret` are one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())


FIELDS = words(
    """
    password passwd pwd passphrase passcode newpassword oldpassword currentpassword userpassword dbpassword
    masterpassword passwordconfirmation confirmpassword password1 password2 passwords
    secret secrets secretkey secretaccesskey awssecretaccesskey clientsecret appsecret apisecret sharedsecret
    webhooksecret signingsecret consumersecret totpsecret
    apikey apikeys apitoken apptoken accesskey masterkey privatekey signingkey encryptionkey accountkey
    sharedaccesskey subscriptionkey xapikey servicekey
    token accesstoken accesstokens refreshtoken refreshtokens idtoken authtoken sessiontoken securitytoken bearertoken
    csrftoken xsrftoken csrfmiddlewaretoken oauthtoken oauthtokensecret tokensecret usertoken bottoken devicetoken
    subjecttoken actortoken logintoken resettoken invitetoken verificationtoken jwt
    authorization proxyauthorization authenticationtoken setcookie
    assertion clientassertion samlresponse samlassertion codeverifier devicecode oauthverifier
    otp totp onetimepassword mfacode pincode pin cvv cvc cvv2 cardcvc securitycode
    sessionkey sessionsecret jsessionid phpsessid sessid
    xamzsignature xamzcredential xamzsecuritytoken xgoogsignature xgoogcredential
    密码 口令 密钥 令牌 验证码
    """
)
"""Of JSON keys at any depth, form and multipart fields, query parameters, and (without a leading `x-`) headers."""

QUERY = FIELDS | words("key auth sig signature accesskeyid awsaccesskeyid googleaccessid keypairid")
"""Of query parameters and form fields, where such short names mean one thing."""

HEADERS = words(
    """
    authtoken csrftoken xsrftoken amzsecuritytoken vaulttoken gitlabtoken functionskey ocpapimsubscriptionkey
    figmatoken shopifyaccesstoken rapidapikey token hubsignature hubsignature256 slacksignature stripesignature
    twiliosignature signature dpop gatewayapikey internaltoken servicetoken
    """
)
"""Of headers, beside `FIELDS` and those of `proctor.credentials`; without a leading `x-`."""

_PIECES_OF_TEXT = words("logprobs toplogprobs tokens prefilltokens logprobsresult completionprobabilities topprobs")
"""Lists in which `token` is a piece of text."""

_OAUTH = frozenset({"granttype", "redirecturi"})
_SHORTEST_CODE = 10
"""Characters of a code beside a `state`, which an address has too."""

_BRACKETED = re.compile(r"\[([^\[\]]+)\](?:\[\])?\Z")
_SEPARATORS = re.compile(r"[-_.\s]")
_ENVIRONMENT = re.compile(
    r"(?i)(?:key|token|secret|passw(?:or)?d|pwd|passphrase|credentials?|auth|dsn|connection_?string)s?\Z"
)


@lru_cache(maxsize=4096)
def normal(name: str) -> str:
    """A name as the lists spell it; of `user[password]` the part in brackets."""
    inner = _BRACKETED.search(name)
    return _SEPARATORS.sub("", inner[1] if inner else name).lower()


@lru_cache(maxsize=4096)
def normal_header(name: str) -> str:
    """A header's name as the lists spell it."""
    low = name.lower()
    return normal(low[2:] if low.startswith("x-") else low)


def names_secret_variable(name: str) -> bool:
    """Whether an environment variable's name says that its value is a secret: `ORDERS_TOKEN`."""
    return _ENVIRONMENT.search(name) is not None


def is_oauth_code(name: str, value: str, present: Collection[str]) -> bool:
    """Whether a parameter `code` is OAuth's, by the parameters beside it; elsewhere a code is anything."""
    if name != "code" or not value:
        return False
    return not _OAUTH.isdisjoint(present) or ("state" in present and len(value) >= _SHORTEST_CODE)


def is_piece_of_text(path: Sequence[str]) -> bool:
    """Whether the `token` at a pointer is a piece of text, as in a model's log probabilities."""
    return any(normal(part) in _PIECES_OF_TEXT for part in path)
