// OpenAI's JavaScript client, its Decisions API: node openai.mjs URL KEY|-
import OpenAI from "openai";
import { apiKey, refused, run, url, want } from "./checks.mjs";

const client = new OpenAI({ apiKey, baseURL: url + "/v1", maxRetries: 0, timeout: 60_000 });

await run("openai.mjs", {
  decisions: async () => {
    const r = await client.decisions.create({ model: "jev-latest", input: "Can I pay by card?", questions: [
      { type: "predicate", name: "money", instructions: "Is it about money?" },
      { type: "choice", name: "desk", instructions: "Which desk?", choices: [{ value: "billing" }, { value: true }, { value: "true", description: "a word" }] },
      { type: "score", instructions: "How urgent?", levels: [{ label: "later" }, { label: "now" }] }] });
    want(r.answers.map((a) => `${a.type}:${a.name}`).join() === "predicate:money,choice:desk,score:null", r.answers);
    want(r.answers[1].probabilities.map((p) => typeof p.value).join() === "string,boolean,string", r.answers[1]);
    want(r.answers[2].probabilities.map((p) => `${p.label}:${p.value}`).join() === "later:0,now:1", r.answers[2]);
    want(r.usage.total_tokens === r.usage.input_tokens, r.usage);
  },
  wrong_field: () =>
    refused(() => client.decisions.create({ model: "jev-latest", input: "x", questions: [] }),
      (e) => want(e.status === 400 && e.param === "questions" && e.type === "invalid_request_error", `${e.status} ${e.param} ${e.type}`)),
  listed_models: async () => {
    const { data } = await client.models.list();
    want(data.length > 0 && data.every((m) => m.id && m.object === "model"), data);
  },
});
