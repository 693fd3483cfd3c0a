import { z } from "zod";
import { daemonOperation, OperationError } from "../operation.js";
import { SCOPES } from "../scope.js";
import { instant } from "../shapes/words.js";

/** Whoever may ask this may do everything anyway: what the link opens may be less. */
export const LOGIN_LINK = daemonOperation({
  name: "login_link",
  summary: "a link to the daemon's page that logs in, once and soon",
  http: { method: "POST", path: "/system/login-links", makes: true, isShownOnce: true },
  access: "admin",
  beginsSomething: false,
  input: z.strictObject({ scope: z.enum(SCOPES).optional() }),
  output: z.strictObject({ url: z.string(), scope: z.enum(SCOPES), expiresAt: instant }),
  run: async ({ scope = "admin" }, { logins, now }, { keyId }) => {
    if (logins.page === null) {
      throw new OperationError("refused", "this daemon serves no page", "krond start --web");
    }
    const { code, validMs } = logins.issue(scope, keyId);
    // What stands behind a # reaches no server, no log and no other page.
    return { url: `${logins.page}/login#${code}`, scope, expiresAt: now() + validMs };
  },
});
