/**
 * What the manifests and the chart of the operator have in common, from one source: the CRD is deploy/operator/crd.yaml,
 * the advice advice.yaml, the rights stand here. `node scripts/operator-manifests.mjs` writes; a test compares what is there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../deploy/operator/", import.meta.url));

/** The least that it needs, by group, resource and verbs. */
export const RIGHTS = [
  ["kron.io", "kronjobs", ["get", "list", "watch"]],
  ["kron.io", "kronjobs/status", ["patch"]],
  ["kron.io", "kronjobs/finalizers", ["update"]],
  ["batch", "jobs", ["get", "list", "watch", "create", "patch", "delete"]],
  ["", "events", ["create", "patch"]],
];

/** Why somebody might wonder. */
const NOTES = {
  "kronjobs/finalizers": "   # blockOwnerDeletion, where OwnerReferencesPermissionEnforcement is on (OpenShift)",
};

const FIRST_RIGHT = "  - { apiGroups: [kron.io], resources: [kronjobs],";
const LAST_RIGHT = /^ {2}- \{ apiGroups: \[""\], resources: \[events\],.*$/m;
const WITH_RIGHTS = ["rbac.yaml", "rbac-namespaced.yaml", "chart/templates/rbac.yaml"];

function rightsText() {
  return RIGHTS.map(
    ([group, resource, verbs]) =>
      `  - { apiGroups: [${group === "" ? '""' : group}], resources: [${resource}], verbs: [${verbs.join(", ")}] }${NOTES[resource] ?? ""}`,
  ).join("\n");
}

function withRights(text) {
  const from = text.indexOf(FIRST_RIGHT);
  const last = LAST_RIGHT.exec(text);
  if (from < 0 || last === null) throw new Error("the rights are not where they were");
  return `${text.slice(0, from)}${rightsText()}${text.slice(last.index + last[0].length)}`;
}

/** Kept when the release is uninstalled: with the CRD every KronJob would go. */
function chartCrd(crd) {
  const body = crd
    .replace(/^#.*\n/, "")
    .replace(/^( {2}name: kronjobs\.kron\.io)$/m, "$1\n  annotations: { helm.sh/resource-policy: keep }");
  return `{{- if .Values.crds.install }}\n${body.trimEnd()}\n{{- end }}\n`;
}

function chartAdvice(advice) {
  return `{{- if .Values.advice.enabled }}\n${advice.replace(/^#.*\n/, "").trimEnd()}\n{{- end }}\n`;
}

/** By path under deploy/operator, what should be there. */
export function manifests() {
  const read = (file) => readFileSync(`${FOLDER}${file}`, "utf8");
  return new Map([
    ["chart/templates/crd.yaml", chartCrd(read("crd.yaml"))],
    ["chart/templates/advice.yaml", chartAdvice(read("advice.yaml"))],
    ...WITH_RIGHTS.map((file) => [file, withRights(read(file))]),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of manifests()) writeFileSync(`${FOLDER}${file}`, text);
}
