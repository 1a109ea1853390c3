import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the pages and forwards API calls to a running server.
const server = process.env.ASSAY_URL ?? "http://127.0.0.1:7700";
// The Host header stays that of the page, because the server compares it to reject other sites.
const passed = { target: server, changeOrigin: false };

export default defineConfig({
  plugins: [react()],
  build: { target: "es2022", sourcemap: false, assetsInlineLimit: 0, chunkSizeWarningLimit: 900 },
  server: { proxy: { "/v1": passed, "/openapi.json": passed } },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    // Other tests may use all cores meanwhile: a test that takes so long hangs.
    testTimeout: 60_000,
    // Tests leave nothing in modules and globals behind. A file that loads all packages anew takes four times as long.
    isolate: false,
  },
});
