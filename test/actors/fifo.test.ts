import { expect, test } from "vitest";
import { Fifo } from "../../src/actors/fifo.js";
import { randomFrom } from "../torture/random.js";

test("gives back what came, in its order, as an array would", () => {
  const random = randomFrom(7);
  const [fifo, array] = [new Fifo<number>(), [] as number[]];
  for (let step = 0; step < 20_000; step += 1) {
    // Grows to some thousands, and is emptied again.
    const grows = Math.floor(step / 4_000) % 2 === 0;
    if (random.next() < (grows ? 0.8 : 0.2)) {
      fifo.push(step);
      array.push(step);
    } else if (random.next() < 0.5) expect(fifo.take()).toBe(array.shift());
    else {
      const most = random.below(5);
      expect(fifo.takeSome(most)).toEqual(array.splice(0, most));
    }
    expect(fifo.length).toBe(array.length);
  }
});
