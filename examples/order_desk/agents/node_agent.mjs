// The agent as a program in another language: `[agent] command = "node examples/order_desk/agents/node_agent.mjs"`.
//
// Node 18 or later, its standard library alone. A line of JSON comes in for each turn, a line goes out; what is told to
// people goes to standard error. ORDERS_URL, OPENAI_BASE_URL and OPENAI_API_KEY are set by whoever starts it.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const CHANNEL = "chat";
const DEFAULT_MODEL = "gpt-4.1-mini";
const MAX_MODEL_CALLS = 12; // in one turn
const PROMPT = readFileSync(new URL("../prompt.txt", import.meta.url), "utf8").trimEnd();

/** One conversation: the messages so far, the tools on offer and, once get_token has answered, the token. */
class Conversation {
  constructor(task, tools) {
    this.tools = tools;
    this.token = null;
    this.messages = [{ role: "system", content: PROMPT.replaceAll("{account}", () => task.account) }];
    const { model, temperature, top_p, seed } = task.settings;
    const sampling = { temperature: temperature ?? 0, top_p, seed };
    const set = Object.entries(sampling).filter(([, value]) => value !== null && value !== undefined);
    this.settings = { model: model || process.env.ORDER_DESK_MODEL || DEFAULT_MODEL, ...Object.fromEntries(set) };
  }

  async takeTurn(text) {
    this.messages.push({ role: "user", content: text });
    for (let calls = 0; calls < MAX_MODEL_CALLS; calls += 1) {
      const message = await this.askModel();
      if (!message.tool_calls?.length) return message.content ?? "";
      for (const call of message.tool_calls) {
        const content = await this.callTool(call.function.name, call.function.arguments);
        this.messages.push({ role: "tool", tool_call_id: call.id, content });
      }
    }
    throw new Error(`no final answer after ${MAX_MODEL_CALLS} model calls in one turn`);
  }

  async askModel() {
    const headers = { Authorization: `Bearer ${needed("OPENAI_API_KEY")}` };
    const body = { ...this.settings, messages: this.messages, tools: this.tools };
    const answer = await post(`${needed("OPENAI_BASE_URL")}/chat/completions`, body, headers);
    if (!answer.ok) throw new Error(`the model call failed: ${answer.status} ${answer.text}`);
    const { role, content, tool_calls } = JSON.parse(answer.text).choices[0].message;
    this.messages.push(tool_calls?.length ? { role, content, tool_calls } : { role, content });
    return { content, tool_calls };
  }

  async callTool(name, rawArguments) {
    const given = decode(rawArguments);
    if (given === null || typeof given !== "object" || Array.isArray(given)) {
      return JSON.stringify({ error: "arguments_not_object", message: "The arguments must be a JSON object." });
    }
    const headers = this.token === null ? {} : { Authorization: `Bearer ${this.token}` };
    const url = `${needed("ORDERS_URL")}/tools/${encodeURIComponent(name)}`;
    const answer = await post(url, { ...given, channel: CHANNEL }, headers);
    console.error(`tool: ${name} ${rawArguments} -> ${answer.status}`);
    const result = decode(answer.text);
    if (name === "get_token" && answer.ok) this.token = typeof result?.token === "string" ? result.token : null;
    return answer.ok ? answer.text : JSON.stringify({ status: answer.status, body: result });
  }
}

/** The tools as the order desk lists them; `channel` is ours to fill, so the model is not told of it. */
async function listTools() {
  const answer = await fetch(`${needed("ORDERS_URL")}/tools`);
  if (!answer.ok) throw new Error(`the list of tools cannot be had: ${answer.status}`);
  return (await answer.json()).map(({ function: tool }) => {
    const { channel, ...properties } = tool.parameters.properties;
    const required = tool.parameters.required.filter((argument) => argument !== "channel");
    return { type: "function", function: { ...tool, parameters: { ...tool.parameters, properties, required } } };
  });
}

async function post(url, body, headers) {
  const sent = { "Content-Type": "application/json", ...headers };
  const answer = await fetch(url, { method: "POST", headers: sent, body: JSON.stringify(body) });
  return { ok: answer.ok, status: answer.status, text: await answer.text() };
}

/** JSON where it is JSON, else the text itself. */
function decode(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function needed(variable) {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set: start the agent through Proctor, or set it by hand`);
  return value.replace(/\/$/, "");
}

let conversation = null;
for await (const line of createInterface({ input: process.stdin })) {
  const task = JSON.parse(line);
  conversation ??= new Conversation(task, await listTools());
  const reply = await conversation.takeTurn(task.user);
  process.stdout.write(`${JSON.stringify({ reply })}\n`);
}
