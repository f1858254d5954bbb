// The official JavaScript client: node typesafe.mjs URL KEY|-
import { TypeSafeClient, choice, noul, score } from "@typesafe-ai/sdk";
import { apiKey, key, refused, run, total, url, want } from "./checks.mjs";

const client = new TypeSafeClient({ apiKey, baseURL: url, timeout: 60_000, logLevel: "off", retry: { maxRetries: 0 } });
const state = "The parcel arrived broken and the customer wants a new one.";
const one = { q: noul("Is something broken?") };
const fails = (status, says, request) => () =>
  refused(() => client.systemOne(request), (e) => want(e.status === status && e.message.includes(says) && e.requestId?.startsWith("req_"), `${e.status} ${e.message}`));

const checks = {
  all_kinds: async () => {
    const { data, requestId } = await client
      .systemOne({ state: [state, { weight: 2 }], questions: {
        bare: noul(), "a.b c/한": choice("Which desk?", { returns: null, repairs: "fixes things", other: { and: ["more"] } }), haste: score(null, ["later", { when: "soon" }, ["now"]]) } })
      .withResponse();
    want(Object.keys(data).sort().join() === "answers,model,usage", Object.keys(data));
    want(Object.keys(data.answers).join("|") === "bare|a.b c/한|haste", Object.keys(data.answers));
    const desk = data.answers["a.b c/한"], haste = data.answers.haste;
    want(Object.keys(desk.probabilities).join() === "returns,repairs,other" && Math.abs(total(desk.probabilities) - 1) < 1e-9, desk);
    want(JSON.stringify(haste.legend) === '{"0":"later","1":{"when":"soon"},"2":["now"]}', haste.legend);
    want(Object.keys(data.answers.bare).join() === "type,noul" && Number.isInteger(data.usage.input_tokens), data);
    want(/^req_[0-9a-f]{24}$/.test(requestId), requestId);
  },
  listed_models: async () => {
    const models = await client.models.list();
    want(models.length > 0 && models.every((m) => m.name && m.description && m.release_date), models);
  },
  unknown_model: fails(400, "no-such", { model: "no-such", state, questions: one }),
  null_state: fails(422, "state:", { state: null, questions: one }),
  null_level: fails(422, "questions.q.score.criteria.1:", { state, questions: { q: score("?", ["a", null]) } }),
  too_long: fails(413, "413", { state: "word after word after word ".repeat(40000), questions: one }),
  many_options: async () => {
    const options = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`Shelf ${i}`, null]));
    const { answers } = await client.systemOne({ state, questions: { q: choice("Which shelf?", options) } });
    want(Object.keys(answers.q.probabilities).length === 255 && Math.abs(total(answers.q.probabilities) - 1) < 1e-9, "options or sum");
  },
  left_early: async () => {
    for (let i = 0; i < 3; i++) {
      const leave = new AbortController();
      setTimeout(() => leave.abort(), 1);
      await client.systemOne({ state, questions: one }, { signal: leave.signal }).catch(() => {});
    }
    want((await client.systemOne({ state, questions: one })).answers.q.noul >= 0, "the next request");
  },
};
if (key !== "-") {
  checks.wrong_key = () =>
    refused(() => new TypeSafeClient({ apiKey: "not-the-key", baseURL: url, logLevel: "off" }).systemOne({ state, questions: one }),
      (e) => want(e.status === 401 && e.body.detail.error_type === "authentication_error", `${e.status}`));
}
await run("typesafe.mjs", checks);
