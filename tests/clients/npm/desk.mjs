// What these programs share: what is asked, and the order desk's tools, called with Node's own fetch.
const ORDER = { order_id: "string" };
const AMOUNT = { ...ORDER, amount: "string" };

export const system = "You are an online shop's customer service agent, talking to customer C-2001. Call get_token first.";
export const turns = [
  process.env.FIRST_QUESTION ?? "Where are my orders US2001 and US2002?",
  "Thank you. Please refund US2001, its base is cracked.",
];
export const MAX_ROUNDS = 8;

export const tools = [
  { name: "get_token", description: "Verify the customer.", takes: { customer_id: "string" } },
  { name: "query_order", description: "Look up an order.", takes: ORDER },
  { name: "query_logistics", description: "Where the parcel of an order is.", takes: ORDER },
  { name: "calc_refund", description: "What a refund would pay.", takes: ORDER },
  { name: "create_refund", description: "Refund an order, once.", takes: AMOUNT },
].map(({ name, description, takes }) => ({
  name,
  description,
  parameters: {
    type: "object",
    properties: Object.fromEntries(Object.entries(takes).map(([key, type]) => [key, { type }])),
    required: Object.keys(takes),
    additionalProperties: false,
  },
}));

let token;
const calls = [];

// The tool's answer as text, for the model.
export async function callTool(name, args) {
  const response = await fetch(`${process.env.ORDERS_URL}/tools/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(args),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}: ${text}`);
  const { token: given, ...shown } = JSON.parse(text);
  token = given ?? token;
  calls.push(`${name} ${JSON.stringify(args)} -> ${JSON.stringify(shown)}`);
  return text;
}

// Sorted: calls made together end in any order.
export function printCalls() {
  console.log(calls.sort().join("\n"));
}
