import "@mantine/core/styles.css";
import "uplot/dist/uPlot.min.css";
import "./fonts.css";
import "./style.css";

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ProblemError } from "./api/client";
import { watchSession } from "./api/session";
import { createDashboardRouter } from "./router";
import { theme, variables } from "./theme";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal is final; a call that did not reach the server is repeated.
      retry: (failures, thrown) => ProblemError.from(thrown).status === 0 && failures < 5,
    },
  },
});

watchSession(queries);

const router = createDashboardRouter(queries);
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
// The library that locks scrolling under a dialog adds a style element and needs the nonce.
setNonce(nonce);
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
