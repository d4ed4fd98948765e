// Chat completions by Node's own fetch: `fetch_chat.mjs`
import { converse, post } from "./desk.mjs";

await converse(async (messages, tools) => {
  const headers = { Authorization: `Bearer ${process.env.OPENAI_API_KEY}` };
  const body = { model: "gpt-4.1-mini", messages, tools };
  const text = await post(`${process.env.OPENAI_BASE_URL}/chat/completions`, body, headers);
  const { content, tool_calls } = JSON.parse(text).choices[0].message;
  return { content, ...(tool_calls ? { tool_calls } : {}) };
});
