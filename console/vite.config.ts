import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The build lands in the Go package that embeds it and is committed there, so that
// the program is built without Node. Equal sources give equal files.
export default defineConfig({
  plugins: [react()],
  // For work on the console: the API of a daemon, by its socket. retake daemon status --json tells where it is.
  server: { proxy: { "/v1": { target: { socketPath: process.env.RETAKE_SOCKET, host: "localhost", port: 80 } as never } } },
  build: {
    outDir: "../internal/ui/web/dist",
    emptyOutDir: true,
    assetsInlineLimit: 0, // nothing inline: the content security policy allows files only
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    target: "es2022",
  },
});
