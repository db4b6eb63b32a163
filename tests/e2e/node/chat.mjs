// The official Node client on Fathom's `/v1`: prints one JSON line with what it got.
import OpenAI from "openai";

const [baseURL, apiKey, conversation] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, defaultHeaders: { "Fathom-Conversation": conversation } });
const ask = (content, more) =>
  client.chat.completions.create({ model: "m", messages: [{ role: "user", content }], ...more });

const { data, response } = await ask("When is the deadline of the Atlas contract?", {}).withResponse();
const stream = await ask("Who decides about the Atlas contract?", { stream: true });
let streamed = "";
for await (const chunk of stream) streamed += chunk.choices[0]?.delta?.content ?? "";
const left = await ask("leave early", { stream: true });
for await (const chunk of left) if (chunk.choices[0]?.delta?.content) break;
left.controller.abort();
const models = [];
for await (const model of await client.models.list()) models.push(model.id);
const failed = {};
for (const why of ["401", "429", "500", "cut"]) {
  try {
    for await (const _ of await ask(`fail with ${why}`, { stream: true }));
  } catch (error) {
    failed[why] = [error.constructor.name, error.status ?? null, error.message];
  }
}
console.log(JSON.stringify({
  whole: data.choices[0].message.content, streamed, models, failed,
  headers: Object.fromEntries([...response.headers].filter(([name]) => name.startsWith("fathom-"))),
}));
