// Uploads a file and reports progress, which `fetch` cannot do.

import { csrfToken, problemOf, type Schemas } from "./client";

/** Publishes a component; the server runs its golden cases first. */
export function publish(
  component: File,
  cases: readonly File[],
  sent: (share: number) => void,
): Promise<Schemas["Plugin"]> {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open("POST", "/v1/plugins");
    // The browser writes the content type of a form, which has its boundary.
    if (cases.length === 0) call.setRequestHeader("Content-Type", "application/wasm");
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
    call.send(cases.length === 0 ? component : form(component, cases));
  });
}

function form(component: File, cases: readonly File[]): FormData {
  const form = new FormData();
  form.append("component", component);
  for (const one of cases) form.append("case", one, one.name);
  return form;
}
