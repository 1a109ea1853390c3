import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the pages alone and passes the rest to a server that runs beside it.
const server = process.env.ASSAY_URL ?? "http://127.0.0.1:7700";
// The host stays that of the page, by which the server tells its own pages from another site's.
const passed = { target: server, changeOrigin: false };

export default defineConfig({
  plugins: [react()],
  build: { target: "es2022", sourcemap: false, assetsInlineLimit: 0, chunkSizeWarningLimit: 900 },
  server: { proxy: { "/v1": passed, "/openapi.json": passed } },
  test: { include: ["src/**/*.test.ts"] },
});
