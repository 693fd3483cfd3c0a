/**
 * Turns that several nodes take: the fourth migration. Frozen once it was released.
 *
 * A turn is a row of the session that has it, and goes with that session: nothing of it can be written from then on (C2, C3),
 * and so whoever takes the turn next finds what was written for good.
 */
export const TURNS = `
create table kron.turn (
  name text collate "C" primary key,
  session uuid not null references kron.session (id) on delete cascade
);
create index turn_session on kron.turn (session);
`;
