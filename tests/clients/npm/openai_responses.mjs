// npm openai, Responses: `openai_responses.mjs [--stream]`
import OpenAI from "openai";
import { MAX_ROUNDS, callTool, printCalls, system, tools, turns } from "./desk.mjs";

const client = new OpenAI();
const streaming = process.argv.includes("--stream");
const offered = tools.map((tool) => ({ type: "function", strict: true, ...tool }));

async function ask(input) {
  const request = { model: "gpt-4.1-mini", instructions: system, input, tools: offered, store: false };
  if (!streaming) return client.responses.create(request);
  let response;
  for await (const event of await client.responses.create({ ...request, stream: true })) {
    if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
    if (event.type === "response.completed") response = event.response;
  }
  if (!response) throw new Error("the stream ended without response.completed");
  return response;
}

const input = [];
for (const turn of turns) {
  input.push({ role: "user", content: turn });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const response = await ask(input);
    input.push(...response.output);
    const asked = response.output.filter((item) => item.type === "function_call");
    if (!asked.length) {
      console.log(streaming ? "" : response.output_text);
      break;
    }
    const results = await Promise.all(
      asked.map(async ({ call_id, name, arguments: args }) => ({
        type: "function_call_output",
        call_id,
        output: await callTool(name, JSON.parse(args)),
      })),
    );
    input.push(...results);
  }
}
printCalls();
