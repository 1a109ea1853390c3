import "@mantine/core/styles.css";
import "uplot/dist/uPlot.min.css";
import "./fonts.css";
import "./style.css";

import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/queryClient";
import { watchSession } from "./api/session";
import { createDashboardRouter } from "./router";
import { theme, variables } from "./theme";

const queries = createQueryClient();

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
