"""OpenAI's Python client, its Decisions API: openai_client.py URL KEY|-"""
import openai
from checks import API_KEY, URL, run, want

client = openai.OpenAI(api_key=API_KEY, base_url=URL + "/v1", max_retries=0, timeout=60)


def decisions():
    r = client.decisions.create(model="jev-latest", input="Please close my account today.", questions=[
        {"type": "predicate", "name": "leaving", "instructions": "Does the customer leave?"},
        {"type": "choice", "instructions": "Which desk?", "choices": [{"value": "retention"}, {"value": False}, {"value": "false", "description": "a word"}]},
        {"type": "score", "name": "haste", "instructions": "How urgent?", "levels": [{"label": "later"}, {"label": "now", "description": "today"}]}])
    leaving, desk, haste = r.answers
    want((leaving.name, desk.name, haste.name) == ("leaving", None, "haste"), f"names: {r.answers}")
    want(0 <= leaving.probability <= 1, f"{leaving}")
    want([p.value for p in desk.probabilities] == ["retention", False, "false"] and desk.probabilities[1].value is False, f"{desk}")
    want(abs(sum(p.probability for p in desk.probabilities) - 1) < 1e-9, f"{desk}")
    want([(p.label, p.value) for p in haste.probabilities] == [("later", 0), ("now", 1)], f"{haste}")
    want(r.usage.total_tokens == r.usage.input_tokens > 0, f"{r.usage}")


def conversation():
    r = client.decisions.create(model="jev-latest", questions=[{"type": "predicate", "instructions": [{"type": "input_text", "text": "Is the user polite?"}]}],
                                input=[{"role": "user", "content": [{"type": "input_text", "text": "Thank you!"}, {"type": "input_json", "data": {"tier": 2}}]}])
    want(len(r.answers) == 1, f"{r.answers}")


def wrong_field():
    try:
        client.decisions.create(model="jev-latest", input="x", questions=[{"type": "score", "instructions": "?", "levels": []}])
    except openai.BadRequestError as e:
        want(e.param == "questions[0].levels" and e.type == "invalid_request_error", f"{e.param} {e.type}")
        return
    raise AssertionError("was answered")


def listed_models():
    want(any(m.id for m in client.models.list().data), "no model")


run("openai.py", [decisions, conversation, wrong_field, listed_models])
