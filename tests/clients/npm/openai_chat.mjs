// npm openai, chat completions: `openai_chat.mjs [--stream]`
import OpenAI from "openai";
import { MAX_ROUNDS, callTool, printCalls, system, tools, turns } from "./desk.mjs";

const client = new OpenAI();
const streaming = process.argv.includes("--stream");
const offered = tools.map((tool) => ({ type: "function", function: tool }));

async function ask(messages) {
  const request = { model: "gpt-4.1-mini", messages, tools: offered };
  if (!streaming) return (await client.chat.completions.create(request)).choices[0].message;
  const stream = client.chat.completions.stream(request);
  stream.on("content", (delta) => process.stdout.write(delta));
  return stream.finalMessage();
}

const messages = [{ role: "system", content: system }];
for (const turn of turns) {
  messages.push({ role: "user", content: turn });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const message = await ask(messages);
    messages.push(message);
    if (!message.tool_calls?.length) {
      console.log(streaming ? "" : message.content);
      break;
    }
    const results = await Promise.all(
      message.tool_calls.map(async (call) => ({
        role: "tool",
        tool_call_id: call.id,
        content: await callTool(call.function.name, JSON.parse(call.function.arguments)),
      })),
    );
    messages.push(...results);
  }
}
printCalls();
