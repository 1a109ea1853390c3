import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the pages alone and passes the rest to a server that runs beside it.
const server = process.env.ASSAY_URL ?? "http://127.0.0.1:7700";

export default defineConfig({
  plugins: [react()],
  build: { target: "es2022", sourcemap: false, assetsInlineLimit: 0, chunkSizeWarningLimit: 900 },
  server: { proxy: { "/v1": server, "/openapi.json": server } },
  test: { include: ["src/**/*.test.ts"] },
});
