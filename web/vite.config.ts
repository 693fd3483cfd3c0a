import { defineConfig } from "vite";

/** The daemon's page: everything it needs comes from the daemon itself. */
export default defineConfig({
  root: import.meta.dirname,
  // JSX by vite itself: a plugin for it would bring a second compiler.
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2022",
    // Strict policies of content refuse what would be written into the page.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
