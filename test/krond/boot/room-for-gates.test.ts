import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { hostRoom, roomForGates, taskRooms } from "../../../src/krond/boot/room-for-gates.js";
import { temporaryDirectories } from "../../support/temporary.js";

const temporary = temporaryDirectories();
const GIB = 2 ** 30;
const MANY = Number.POSITIVE_INFINITY;

test.each([
  ["nothing that one could measure", 0, 0, 1_000],
  ["a small machine", 1 * GIB, MANY, 1_000],
  ["memory for more than the usual", 6 * GIB, MANY, 3_072],
  ["memory for far more than anybody has asked for", 512 * GIB, MANY, 5_000],
  ["memory, and few places for processes", 64 * GIB, 8_192, 2_048],
  ["hardly any places for processes", 64 * GIB, 100, 1_000],
])("S23: where nobody says how many processes may wait, with %s", (_, freeBytes, freeTasks, expected) => {
  expect(roomForGates({ freeBytes, freeTasks })).toBe(expected);
});

test("every group above the daemon's own bounds it", () => {
  const mount = temporary();
  const own = path.join(mount, "system.slice", "krond.service");
  fs.mkdirSync(own, { recursive: true });
  fs.writeFileSync(path.join(own, "pids.max"), "max\n");
  fs.writeFileSync(path.join(own, "pids.current"), "7\n");
  fs.writeFileSync(path.join(mount, "system.slice", "pids.max"), "4000\n");
  fs.writeFileSync(path.join(mount, "system.slice", "pids.current"), "1500\n");
  fs.writeFileSync(path.join(mount, "pids.max"), "100\n");
  fs.writeFileSync(path.join(mount, "pids.current"), "200\n");
  expect(taskRooms(mount, "/system.slice/krond.service")).toEqual([2_500, 0]);
  expect(taskRooms(mount, "/nowhere")).toEqual([0]);
});

test("this host has some room", () => {
  const { freeBytes, freeTasks } = hostRoom();
  expect(freeBytes).toBeGreaterThan(0);
  expect(freeTasks).toBeGreaterThan(0);
});
