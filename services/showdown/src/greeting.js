/** Asks a Showdown server whether it is ready for logins. */
import { randomBytes } from "node:crypto";
import { get } from "node:http";

/** What a login answers: a server's first message to a client that may log in. */
const CHALLENGE = "|challstr|";

/**
 * Connect by websocket and wait for the server's challenge. A server that has much to do listens long before it sends one.
 * @param {string} host
 * @param {number} port
 * @param {number} milliseconds longest wait
 * @returns {Promise<boolean>} whether the server sent it
 */
export function greets(host, port, milliseconds) {
  return new Promise((resolve) => {
    const request = get({
      host,
      port,
      path: "/showdown/websocket",
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
      },
    });
    /** @param {boolean} isGreeted */
    const end = (isGreeted) => {
      clearTimeout(timer);
      request.destroy();
      request.socket?.destroy(); // which is the websocket's by then
      resolve(isGreeted);
    };
    const timer = setTimeout(() => end(false), milliseconds);
    request.on("error", () => end(false));
    request.on("response", () => end(false));
    request.on("upgrade", (_response, socket, head) => {
      // A server's frames are not masked, and none is compressed that the client did not offer to read.
      let text = head.toString("latin1");
      const look = () => {
        if (text.includes(CHALLENGE)) end(true);
      };
      socket.on("data", (data) => {
        text += data.toString("latin1");
        look();
      });
      socket.on("error", () => end(false));
      socket.on("close", () => end(false));
      look();
    });
  });
}
