#!/usr/bin/env node
import { KROND } from "./commands/krond/index.js";
import { endAtOnce, main } from "./main.js";
import { keepOwnBits } from "./own-bits.js";

keepOwnBits();
main(KROND, endAtOnce);
