// Vercel's ai with @ai-sdk/openai, which asks Responses unless told otherwise: `vercel_ai.mjs [--chat] [--stream]`
import { openai } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MAX_ROUNDS, callTool, report, schemas, talk } from "./desk.mjs";

const tools = Object.fromEntries(
  schemas.map(({ name, description, parameters }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: (args) => callTool(name, args) }),
  ]),
);
const request = {
  model: process.argv.includes("--chat") ? openai.chat("gpt-4.1-mini") : openai("gpt-4.1-mini"),
  system: talk.system,
  tools,
  stopWhen: stepCountIs(MAX_ROUNDS),
  providerOptions: { openai: { store: false } }, // send the whole history, not references to stored items
};

// Prints the answer, and gives the messages that it adds to the history.
async function answer(messages) {
  if (!process.argv.includes("--stream")) {
    const { text, response } = await generateText({ ...request, messages });
    console.log(text);
    return response.messages;
  }
  const result = streamText({ ...request, messages });
  let text = "";
  for await (const delta of result.textStream) text += delta;
  console.log(text);
  return (await result.response).messages;
}

const messages = [];
for (const turn of talk.turns) {
  messages.push({ role: "user", content: turn });
  messages.push(...(await answer(messages)));
}
report();
