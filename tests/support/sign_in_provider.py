"""An OpenID Connect provider on a port: ``python -m tests.support.sign_in_provider PORT``.

It is oidc-provider-mock, in which anybody signs in under any name. Unlike the mock, it requires PKCE, as
providers in use do, and ``PUT /forged`` sets claims that replace those of the ID tokens that it signs.
"""

import base64
import hashlib
import os
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import flask
import oidc_provider_mock
from authlib.jose import jwt

forged_claims: dict[str, Any] = {}
challenges: dict[str, str] = {}
"""The PKCE challenge of each code."""


def create_provider() -> flask.Flask:
    provider: flask.Flask = oidc_provider_mock.app(require_nonce=True)
    provider.add_url_rule("/forged", view_func=set_forged_claims, methods=["PUT"])
    provider.before_request(check_verifier)
    provider.after_request(change_response)
    return provider


def set_forged_claims() -> flask.Response:
    forged_claims.clear()
    forged_claims.update(flask.request.json or {})
    return flask.Response(status=204)


def check_verifier() -> flask.Response | None:
    if flask.request.path != "/oauth2/token":
        return None
    digest = hashlib.sha256(flask.request.form.get("code_verifier", "").encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    if challenges.get(flask.request.form["code"]) == challenge:
        return None
    response = flask.jsonify({"error": "invalid_grant"})
    response.status_code = 400
    return response


def change_response(response: flask.Response) -> flask.Response:
    if flask.request.path == "/oauth2/authorize" and "Location" in response.headers:
        query = parse_qs(urlsplit(response.headers["Location"]).query)
        for code in query.get("code", []):
            challenges[code] = flask.request.args["code_challenge"]
        if "error" in query:  # the mock forgets the state
            response.headers["Location"] += f"&state={flask.request.args['state']}"
    if flask.request.path == "/oauth2/token" and forged_claims and response.status_code == 200:
        token: dict[str, Any] = response.get_json()
        response.set_data(flask.json.dumps({**token, "id_token": forge(token["id_token"])}))
    return response


def forge(id_token: str) -> str:
    key = flask.g.oidc_provider_mock_storage.jwk
    claims = jwt.decode(id_token, key)
    forged: bytes = jwt.encode(claims.header, {**claims, **forged_claims}, key)
    return forged.decode()


if __name__ == "__main__":
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    create_provider().run(port=int(sys.argv[1]), use_reloader=False)
