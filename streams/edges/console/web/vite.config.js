// The same sources make the same bytes: names without digests, no source maps, nothing of the machine's paths.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    cssTarget: ["chrome125", "firefox128", "safari17.5"],
    modulePreload: false,
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "console.js", chunkFileNames: "[name].js", assetFileNames: "console.[ext]" },
    },
  },
});
