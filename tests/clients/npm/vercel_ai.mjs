// Vercel's ai with @ai-sdk/openai, which asks Responses unless told otherwise: `vercel_ai.mjs [--chat] [--stream]`
import { openai } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MAX_ROUNDS, callTool, printCalls, system, tools, turns } from "./desk.mjs";

const offered = Object.fromEntries(
  tools.map(({ name, description, parameters }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: (args) => callTool(name, args) }),
  ]),
);
const streaming = process.argv.includes("--stream");
const request = {
  model: process.argv.includes("--chat") ? openai.chat("gpt-4.1-mini") : openai("gpt-4.1-mini"),
  system,
  tools: offered,
  stopWhen: stepCountIs(MAX_ROUNDS),
  // The stand-in keeps no responses, so the items themselves are sent and no references to them.
  providerOptions: { openai: { store: false } },
};

// Prints the answer, and gives the messages that it adds to the history.
async function answer(messages) {
  if (!streaming) {
    const { text, response } = await generateText({ ...request, messages });
    console.log(text);
    return response.messages;
  }
  const result = streamText({ ...request, messages });
  for await (const delta of result.textStream) process.stdout.write(delta);
  console.log();
  return (await result.response).messages;
}

const messages = [];
for (const turn of turns) {
  messages.push({ role: "user", content: turn });
  messages.push(...(await answer(messages)));
}
printCalls();
