/** Part of every decision record: which engine computed it. A test keeps it equal to package.json. */
export const ENGINE_VERSION = "0.1.0";
