// A server that passes requests on and can break the connection after the server has taken them.
import { createServer } from "node:http";

/** Runs `story` with the address of a proxy that cuts the first `cuts` answers, and a count of requests. */
export async function cutting(url, cuts, story) {
  const counts = { requests: 0 };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    counts.requests += 1;
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !["host", "connection", "content-length"].includes(name)),
    );
    const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
    const answer = await fetch(url + request.url, { method: request.method, headers, body });
    const text = await answer.text();
    if (counts.requests <= cuts) return response.socket.destroy();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" }).end(text);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await story(`http://127.0.0.1:${server.address().port}`, counts);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Runs `story` with the address of a server that answers as told. */
export async function answering(answers, story) {
  const taken = [];
  const server = createServer((request, response) => {
    taken.push(request.url);
    const [status, headers, body] = answers[Math.min(taken.length, answers.length) - 1];
    if (status !== 0) response.writeHead(status, headers).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await story(`http://127.0.0.1:${server.address().port}`, taken);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
