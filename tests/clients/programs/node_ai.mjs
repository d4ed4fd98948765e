// Vercel's ai with @ai-sdk/openai: `node_ai.mjs` (generateText, Responses) or `node_ai.mjs --stream` (streamText, chat)
import { openai } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MAX_ROUNDS, callTool, report, schemas, talk } from "./desk.mjs";

const stream = process.argv.includes("--stream");
const tools = Object.fromEntries(
  schemas.map(({ name, description, parameters }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: (args) => callTool(name, args) }),
  ]),
);

const messages = [];
for (const turn of talk.turns) {
  messages.push({ role: "user", content: turn });
  const providerOptions = { openai: { store: false } }; // send the whole history, not references to stored items
  const request = { system: talk.system, messages, tools, providerOptions, stopWhen: stepCountIs(MAX_ROUNDS) };
  let failure;
  const result = stream
    ? streamText({ model: openai.chat("gpt-4.1-mini"), ...request, onError: ({ error }) => (failure = error) })
    : await generateText({ model: openai("gpt-4.1-mini"), ...request });
  if (stream) await result.consumeStream();
  if (failure) throw failure;
  console.log(await result.text);
  messages.push(...(await result.response).messages);
}
report();
