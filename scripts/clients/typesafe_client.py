"""The official Python client: typesafe_client.py URL KEY|-"""
import asyncio
import base64
import struct
import zlib

from checks import API_KEY, KEY, URL, run, want
from typesafe_sdk import (AsyncTypeSafeClient, Choice, Image, Noul, RetryPolicy, Score, TypeSafeAPIError,
                          TypeSafeAuthenticationError, TypeSafeClient)

SETTINGS = dict(base_url=URL, api_key=API_KEY, timeout=60, retry=RetryPolicy(max_retries=0))
TICKET = "The invoice from March was paid twice, and nobody answers the phone."
QUESTIONS = {
    "refund": Noul(instructions="Does the customer want money back?"),
    "only one side": Noul(criteria={"false": "calm"}),
    "부서 📦": Choice(instructions="Who handles it?", criteria={"billing": "Invoices", "sales": None, "it": {"owns": ["logins"]}}),
    "mood": Score(criteria=["calm", ["annoyed"], {"label": "furious"}]),
}


def client(**more):
    return TypeSafeClient(**{**SETTINGS, **more})


def ask(state=TICKET, questions=None, **more):
    with client() as c:
        return c.system_one(state=state, questions=questions or {"q": QUESTIONS["refund"]}, **more)


def check(r):
    want(list(r.answers) == list(QUESTIONS), f"ids or order: {list(r.answers)}")
    choice, score = r.choices["부서 📦"], r.scores["mood"]
    want(list(choice.probabilities) == ["billing", "sales", "it"], f"options: {choice.probabilities}")
    want(abs(sum(choice.probabilities.values()) - 1) < 1e-9, f"the sum is {sum(choice.probabilities.values())}")
    want(choice.probabilities[choice.choice] == max(choice.probabilities.values()), f"not the most probable: {choice}")
    want(score.legend == {0: "calm", 1: ["annoyed"], 2: {"label": "furious"}}, f"legend: {score.legend}")
    want(abs(score.score - sum(i * p for i, p in score.probabilities.items())) < 1e-5, f"score: {score}")
    want(0 <= r.nouls["refund"].noul <= 1 and r.usage.output_tokens == 0 and r.usage.input_tokens > 0, f"{r}")
    want(r.model not in ("", "jev-latest"), f"model: {r.model}")


def all_kinds():
    check(ask(state={"text": TICKET, "priority": 2.0}, questions=QUESTIONS))


def twelve_at_once():
    async def go():
        async with AsyncTypeSafeClient(**SETTINGS) as c:
            return await asyncio.gather(*(c.system_one(state=f"{TICKET} {i}", questions=QUESTIONS) for i in range(12)))
    for r in asyncio.run(go()):
        check(r)


def listed_models():
    with client() as c:
        listed = c.models.list().models
    want(listed and all(m.name and m.description and len(m.release_date) == 10 for m in listed), f"{listed}")


def compressed_body():
    long = TICKET * 30
    with client(compression="zstd") as a, client(compression=False) as b:
        small, plain = (c.system_one(state=long, questions=QUESTIONS) for c in (a, b))
    want(small.raw_http_response.request.headers.get("content-encoding") == "zstd", "the client did not compress")
    want(small.nouls["refund"] == plain.nouls["refund"], "two encodings, two answers")


def request_id_and_timing():
    r = ask()
    want(r.request_id.startswith("req_"), f"{r.request_id}")
    want("run;dur=" in r.raw_http_response.headers["server-timing"], "no Server-Timing")


def refused(status, says, **request):
    try:
        r = ask(**request)
    except TypeSafeAPIError as e:
        want(e.status == status and says in str(e) and e.request_id, f"{e.status} {e}")
        return
    raise AssertionError(f"was answered: {r}")


def unknown_model():
    refused(400, "no-such-model", model="no-such-model")


def null_state():
    refused(422, "state:", extra_body={"state": None})


def null_level():
    refused(422, "questions.q.score.criteria.0:", extra_body={"questions": {"q": {"type": "score", "criteria": [None, "a"]}}})


def too_long():
    refused(413, "tokens", state="word after word after word " * 40000)


def remote_image():
    refused(422, "images.0:", extra_body={"images": ["https://127.0.0.1/a.png"]})


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    size = 96
    rows = b"".join(b"\0" + bytes([y * 2, 90, 200] * size) for y in range(size))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def image(**request):
    """A model without vision says 422 and names the image."""
    try:
        r = ask(**request)
    except TypeSafeAPIError as e:
        want(e.status == 422 and ("image" in str(e) or "asset" in str(e)), f"{e.status} {e}")
        return
    want(0 <= r.nouls["q"].noul <= 1, f"{r}")


def image_in_multipart():
    image(state=["See this:", Image(png())])


def image_in_json():
    image(extra_body={"images": ["data:image/png;base64," + base64.b64encode(png()).decode()]})


def wrong_key():
    if KEY == "-":
        return  # everybody is answered
    try:
        with client(api_key="not-the-key") as c:
            c.system_one(state="x", questions=QUESTIONS)
    except TypeSafeAuthenticationError as e:
        want(e.body["detail"]["error_type"] == "authentication_error", f"{e.body}")
        return
    raise AssertionError("a wrong key was answered")


run("typesafe.py", [all_kinds, twelve_at_once, listed_models, compressed_body, request_id_and_timing, unknown_model, null_state,
                    null_level, too_long, remote_image, image_in_multipart, image_in_json, wrong_key])
