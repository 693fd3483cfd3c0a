/** What an operator cannot begin without, in words that help. */
import { KronError } from "../core/base/errors/kron-error.js";
import { GROUP, PLURAL, VERSION } from "./identity.js";
import { ApiFailure } from "./kube/failure.js";

/** Of the first list of a kind: why it can never work as things are. */
export function startRefusal(error: unknown, resource: string): unknown {
  if (!(error instanceof ApiFailure)) return error;
  const details = { component: "api", operation: `list ${resource}` } as const;
  if (error.isGone) {
    const message = `the cluster does not know ${PLURAL}.${GROUP} of version ${VERSION}`;
    return new KronError("cluster-unsuitable", message, {
      ...details,
      hint: "kubectl apply -f deploy/operator/crd.yaml",
    });
  }
  if (error.answer.status === 401) {
    const message = "the API server does not accept these credentials";
    return new KronError("cluster-forbidden", message, {
      ...details,
      hint: "kubectl auth whoami, with the same kubeconfig",
    });
  }
  const message = `needs list and watch on ${resource}: ${error.answer.message}`;
  const hint = "kubectl apply -f deploy/operator/rbac.yaml, or see kubectl auth can-i --list";
  return new KronError("cluster-forbidden", message, { ...details, hint });
}
