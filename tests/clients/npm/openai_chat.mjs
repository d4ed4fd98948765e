// npm openai, chat completions: `openai_chat.mjs [--stream]`
import OpenAI from "openai";
import { converse } from "./desk.mjs";

const client = new OpenAI();
const stream = process.argv.includes("--stream");

await converse(async (messages, tools) => {
  const request = { model: "gpt-4.1-mini", messages, tools };
  const completion = stream
    ? await client.chat.completions.stream(request).finalChatCompletion()
    : await client.chat.completions.create(request);
  const { content, tool_calls: calls = [] } = completion.choices[0].message;
  return {
    content,
    tool_calls: calls.map(({ id, function: { name, arguments: args } }) => ({
      id,
      type: "function",
      function: { name, arguments: args },
    })),
  };
});
