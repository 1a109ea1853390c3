// Uploads a file and reports progress, which `fetch` cannot do.

import { csrfToken, ProblemError, type Schemas } from "./client";

export function publish(
  component: File,
  sent: (share: number) => void,
): Promise<Schemas["Plugin"]> {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open("POST", "/v1/plugins");
    call.setRequestHeader("Content-Type", "application/wasm");
    const token = csrfToken();
    if (token) call.setRequestHeader("X-Assay-Csrf", token);
    call.upload.onprogress = ({ loaded, total }) => sent(total > 0 ? loaded / total : 0);
    call.onerror = () => reject(new TypeError("the connection was lost"));
    call.onload = () => {
      if (call.status === 200 || call.status === 201) {
        resolve(JSON.parse(call.responseText) as Schemas["Plugin"]);
      } else {
        reject(problemOf(call.status, call.responseText));
      }
    };
    call.send(component);
  });
}

function problemOf(status: number, text: string): ProblemError {
  try {
    const { code, detail, hint } = JSON.parse(text) as Schemas["Problem"];
    return new ProblemError(status, code, detail, hint);
  } catch {
    return new ProblemError(status, "unexpected", `The server answered ${status}.`);
  }
}
