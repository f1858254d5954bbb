// The AI SDK's provider, alone and under the core, whose check of answers is the strictest there is: node aisdk.mjs URL KEY|-
import { createTypeSafeAi } from "@ai-sdk/typesafe-ai";
import * as ai from "ai";
import { apiKey, refused, run, total, url, want } from "./checks.mjs";

const model = (name) => createTypeSafeAi({ apiKey, baseURL: url + "/v1" }).evaluationModel(name);
const state = "Two of the three lamps in the order are missing.";
const questions = {
  desk: { type: "choice", instructions: "Which desk?", criteria: { shipping: { about: ["parcels"] }, billing: "money", other: null } },
  anger: { type: "score", instructions: "How angry?", criteria: ["calm", "cross", "furious"] },
  missing: { type: "boolean", instructions: "Is something missing?" },
};

await run("aisdk.mjs", {
  provider: async () => {
    const r = await model("jev-latest").doEvaluate({ state: { text: state }, questions });
    want(Object.keys(r.answers).join() === "desk,anger,missing" && r.answers.missing.probability >= 0, r.answers);
    want(r.usage.inputTokens > 0 && r.response.modelId !== "jev-latest", r.response);
  },
  core: async () => {
    const decide = ai.experimental_decide ?? ai.experimental_evaluate;
    const r = await decide({ model: model("jev-latest"), state, questions, maxRetries: 0 });
    want(Object.keys(r.answers).length === 3 && Math.abs(total(r.answers.desk.probabilities) - 1) < 1e-9, r.answers);
  },
  unknown_model: () =>
    refused(() => model("no-such").doEvaluate({ state, questions: { q: { type: "boolean", instructions: "?" } } }),
      (e) => want(e.statusCode === 400 && !e.isRetryable && e.message.includes("no-such"), `${e.statusCode} ${e.message}`)),
});
