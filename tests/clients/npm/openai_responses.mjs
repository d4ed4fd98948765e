// npm openai, Responses: `openai_responses.mjs [--stream]`
import OpenAI from "openai";
import { MAX_ROUNDS, callTool, report, schemas, talk } from "./desk.mjs";

const client = new OpenAI();
const tools = schemas.map((schema) => ({ type: "function", strict: true, ...schema }));

async function ask(input) {
  const request = { model: "gpt-4.1-mini", instructions: talk.system, input, tools, store: false };
  if (!process.argv.includes("--stream")) return client.responses.create(request);
  let text = "";
  let response;
  for await (const event of await client.responses.create({ ...request, stream: true })) {
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.completed") response = event.response;
  }
  if (!response) throw new Error("the stream ended without response.completed");
  return { output: response.output, output_text: text };
}

const input = [];
for (const turn of talk.turns) {
  input.push({ role: "user", content: turn });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { output, output_text: text } = await ask(input);
    input.push(...output);
    const calls = output.filter((item) => item.type === "function_call");
    if (!calls.length) {
      console.log(text);
      break;
    }
    const told = await Promise.all(calls.map((call) => callTool(call.name, JSON.parse(call.arguments))));
    calls.forEach((call, i) => input.push({ type: "function_call_output", call_id: call.call_id, output: told[i] }));
  }
}
report();
