#!/usr/bin/env node
/** A plugin of kubectl: `kubectl kron run report`. It speaks to the cluster that kubectl would speak to. */
import { KUBECTL_KRON } from "./commands/kube/index.js";
import { endByItself, main } from "./main.js";

main(KUBECTL_KRON, endByItself);
