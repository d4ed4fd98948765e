// What every Node program here shares: the conversation, and the order desk's tools, called with plain fetch.
import { readFileSync } from "node:fs";

export const talk = JSON.parse(readFileSync("conversation.json", "utf8"));
export const MAX_ROUNDS = 8;

export const schemas = Object.entries(talk.tools).map(([name, tool]) => ({
  name,
  description: tool.description,
  parameters: {
    type: "object",
    properties: Object.fromEntries(tool.arguments.map((argument) => [argument, { type: "string" }])),
    required: tool.arguments,
    additionalProperties: false,
  },
}));

export async function post(url, body, headers = {}) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}: ${await answer.text()}`);
  return answer.text();
}

let token = "";
const lines = [];

export async function callTool(name, args) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const text = await post(`${process.env.ORDERS_URL}/tools/${name}`, args, headers);
  const { token: given, ...shown } = JSON.parse(text);
  token = given ?? token;
  lines.push(`tool: ${name} ${JSON.stringify(args)} -> ${JSON.stringify(shown)}`);
  return text;
}

// Sorted: calls made together end in any order.
export function report() {
  console.log(lines.sort().join("\n"));
}

// A tool loop over chat completions; `ask` gives the model's message.
export async function converse(ask) {
  const messages = [{ role: "system", content: talk.system }];
  const tools = schemas.map((schema) => ({ type: "function", function: schema }));
  for (const turn of talk.turns) {
    messages.push({ role: "user", content: turn });
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { content, tool_calls: calls = [] } = await ask(messages, tools);
      messages.push({ role: "assistant", content, ...(calls.length ? { tool_calls: calls } : {}) });
      if (!calls.length) {
        console.log(content);
        break;
      }
      const told = await Promise.all(calls.map((c) => callTool(c.function.name, JSON.parse(c.function.arguments))));
      calls.forEach((call, i) => messages.push({ role: "tool", tool_call_id: call.id, content: told[i] }));
    }
  }
  report();
}
