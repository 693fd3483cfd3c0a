/**
 * What a store needs to go on by itself when another server has taken over (C12), and among nodes of several versions (C18): the
 * third migration. Frozen once it was released.
 *
 * A server that was promoted may not have what was confirmed last, and nobody can tell by looking. So the first session that meets
 * another timeline puts down up to when everything counts as handled, and each shard is brought up to that before anybody looks
 * after it again.
 */

const FENCES = `
alter table kron.cluster add column fenced_at bigint not null default 0;
-- Up to when what is in it was fenced.
alter table kron.shard add column fenced_at bigint not null default 0;

-- A pool that is new has nothing to fence.
create or replace function kron.make_pools(names text[]) returns void language sql as $$
  insert into kron.pool (name, shards)
    select n, case when n like 'node/%' then 1 else 16 end from unnest(names) as n on conflict do nothing;
  insert into kron.shard (pool, number, fenced_at)
    select p.name, n, coalesce((select max(c.fenced_at) from kron.cluster c), 0)
    from kron.pool p cross join lateral generate_series(0, p.shards - 1) as n
    where p.name = any (names) on conflict do nothing;
$$;

-- A job may go out of a shard that was not fenced yet: whoever begins the one that it comes into is to fence that anew. Of what is
-- fenced already nothing changes by it.
create function kron.carry_fence() returns trigger language plpgsql as $$
begin
  update kron.shard t set fenced_at = s.fenced_at
    from kron.shard s join kron.pool sp on sp.name = s.pool, kron.pool tp
    where s.pool = old.pool and s.number = kron.shard_number(new.key, sp.shards)
      and tp.name = new.pool and t.pool = tp.name and t.number = kron.shard_number(new.key, tp.shards)
      and t.fenced_at > s.fenced_at;
  return null;
end $$;
create trigger carry_fence after update of pool on kron.wanted for each row when (old.pool <> new.pool)
  execute function kron.carry_fence();

-- null: nothing is to be fenced. Without a pool all shards are meant.
create function kron.fence_due(my_pool text, my_number int) returns bigint language sql stable as $$
  select max(c.fenced_at) from kron.cluster c join kron.shard s on s.fenced_at < c.fenced_at
    where my_pool is null or (s.pool = my_pool and s.number = my_number)
$$;

create function kron.fence_settled(me uuid, my_pool text, my_number int, up_to bigint) returns void
language plpgsql as $$
begin
  perform kron.hold(me);
  update kron.shard s set fenced_at = up_to
    where s.fenced_at < up_to and (my_pool is null or (s.pool = my_pool and s.number = my_number and s.session = me));
end $$;
`;

/**
 * The newest zone data that nodes have agreed on: a node with older ones would decide otherwise than the others, and begins by
 * draining. Newer ones count for all as soon as nobody older is there.
 */
const ZONE_DATA = `
alter table kron.cluster add column tz text collate "C" not null default '';

-- null: this node may take its share.
create function kron.admit_tz(me uuid, my_tz text) returns text language plpgsql as $$
declare
  agreed text;
begin
  perform kron.hold(me);
  select c.tz into agreed from kron.cluster c for update;
  if my_tz collate "C" < agreed then
    update kron.session s set is_draining = true where s.id = me;
    return agreed;
  end if;
  if my_tz collate "C" > agreed and not exists (select from kron.session s where s.tz collate "C" < my_tz) then
    update kron.cluster set tz = my_tz;
  end if;
  return null;
end $$;
`;

export const FAILOVERS = FENCES + ZONE_DATA;
