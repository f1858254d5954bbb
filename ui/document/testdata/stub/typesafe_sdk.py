"""Stands in for the official client: prints the body it would send."""
import json


class TypeSafeClient:
    def __init__(self, base_url, api_key, timeout):
        assert base_url.startswith("http") and api_key and timeout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def system_one(self, state=None, questions=None, *, model=None, extra_body=None):
        body = {"state": state, "questions": questions}
        if model is not None:
            body["model"] = model
        body.update(extra_body or {})
        with open("sent.json", "w", encoding="utf-8") as f:
            json.dump(body, f, ensure_ascii=False)

        class Result:
            answers = {}

        return Result
