/**
 * The transcendental functions of the distributions, from @stdlib: FreeBSD's and Boost's algorithms in plain JavaScript
 * over +, -, *, /, floor and sqrt, which IEEE 754 defines to the last bit. `Math.pow`, `**`, `Math.log` and `Math.exp`
 * belong to the engine, and engines change them between versions; a decision must not change with them.
 */
import erfc from "@stdlib/math-base-special-erfc";
import erfcinv from "@stdlib/math-base-special-erfcinv";
import exp from "@stdlib/math-base-special-exp";
import ln from "@stdlib/math-base-special-ln";
import pow from "@stdlib/math-base-special-pow";

export { erfc, erfcinv, exp, ln, pow };
