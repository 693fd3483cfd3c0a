#!/usr/bin/env node
import { KRON } from "./commands/index.js";
import { endByItself, main } from "./main.js";
import { keepOwnBits } from "./own-bits.js";

keepOwnBits();
main(KRON, endByItself);
