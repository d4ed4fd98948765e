// Node's own fetch, no SDK: GET with a query, JSON, a FormData upload, server-sent events read as they come.
const base = process.env.FILES_URL;

async function checked(response) {
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}: ${await response.text()}`);
  return response;
}

const query = new URLSearchParams({ q: process.env.SEARCH ?? "cracked base", page: "1" });
console.log(await (await checked(await fetch(`${base}/search?${query}`))).json());

const note = await fetch(`${base}/notes`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ order: "US2001", text: "底座裂了" }),
});
console.log(note.status, await (await checked(note)).json());
console.log(await (await checked(await fetch(new URL(note.headers.get("location"), note.url)))).json());

const form = new FormData();
form.set("order", "US2001");
form.set("photo", new Blob([Uint8Array.from({ length: 4096 }, (_, i) => i % 256)], { type: "image/png" }), process.env.PHOTO_NAME ?? "底座.png");
console.log(await (await checked(await fetch(`${base}/photos`, { method: "POST", body: form }))).json());

const events = await checked(await fetch(`${base}/events`, { headers: { Accept: "text/event-stream" } }));
let text = "";
for await (const piece of events.body.pipeThrough(new TextDecoderStream())) text += piece;
for (const event of text.split("\n\n").filter(Boolean)) console.log(event.replace(/^data: /, ""));

const picture = await checked(await fetch(`${base}/photos/1`));
console.log(picture.headers.get("content-type"), (await picture.arrayBuffer()).byteLength);
const gone = await fetch(`${base}/photos/1`, { method: "DELETE" });
console.log(gone.status, JSON.stringify(await gone.text()));
