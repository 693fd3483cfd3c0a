import { defineConfig } from "vite";

/** What the inspector alone needs, and what of it only who looks at a chart. */
const LATER = /web\/src\/(?:inspector|charts)\//;

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
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Few files: what is packed together takes less.
    cssCodeSplit: false,
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "index", test: (id: string) => !LATER.test(id) }] } },
    },
  },
});
