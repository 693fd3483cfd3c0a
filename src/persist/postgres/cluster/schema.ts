/**
 * What several nodes on one store need beside what one daemon needs: the second migration. Frozen once it was released.
 *
 * Rows are locked in one order everywhere, so that no two wait for each other: wanted, pool, session, shard.
 */

const SESSIONS = `
alter table kron.session
  -- The only daemon of the store; else one of several.
  add column is_alone boolean not null default true,
  -- All that it serves: any and its own among them.
  add column pools text[] not null default '{}',
  add column is_draining boolean not null default false,
  add column boot_id text generated always as (split_part(place, '/', 1)) stored;

-- Nodes whose last session has ended, for those who wait for what they were running (C15).
create table kron.gone (
  node text collate "C" primary key,
  boot_id text not null,
  -- 1970: they will not come back.
  since timestamptz not null
);

create function kron.remember() returns trigger language plpgsql as $$
begin
  insert into kron.gone (node, boot_id, since) values (old.node, old.boot_id, least(old.expires_at, clock_timestamp()))
    on conflict (node) do update set boot_id = excluded.boot_id, since = excluded.since;
  return null;
end $$;
create trigger remember after delete on kron.session for each row when (not old.is_alone) execute function kron.remember();
`;

/** Of every pool the number of shards is a power of two, 256 at most: one byte of a key says in which of them it lies. */
const SHARDS = `
alter table kron.shard add column revision bigint not null default 0;
update kron.shard set session = null;
update kron.pool set shards = 64 where name = 'any';
insert into kron.shard (pool, number) select 'any', n from generate_series(1, 63) as n;

create function kron.make_pools(names text[]) returns void language sql as $$
  insert into kron.pool (name, shards)
    select n, case when n like 'node/%' then 1 else 16 end from unnest(names) as n on conflict do nothing;
  insert into kron.shard (pool, number)
    select p.name, n from kron.pool p cross join lateral generate_series(0, p.shards - 1) as n
    where p.name = any (names) on conflict do nothing;
$$;

create function kron.shard_number(key uuid, shards int) returns int language sql immutable as $$
  select (get_byte(uuid_send(key), 0) * shards) >> 8
$$;

create function kron.first_key(number int, shards int) returns uuid language sql immutable as $$
  select rpad(lpad(to_hex(number * 256 / shards), 2, '0'), 32, '0')::uuid
$$;

create function kron.last_key(number int, shards int) returns uuid language sql immutable as $$
  select rpad(lpad(to_hex((number + 1) * 256 / shards - 1), 2, '0'), 32, 'f')::uuid
$$;
`;

/** Times of being alive: those of a daemon alone count for every shard, and have -1 for its number. */
const TENURES = `
update kron.tenure set number = -1;

create function kron.apply(
  me uuid, my_number bigint, my_timeline text,
  document_gone uuid[], document_key uuid[], document_tail uuid[], document_text text[],
  claim_key uuid[], claim_at bigint[], claim_kind text[], claim_identity text[], claim_text text[], claim_token text[],
  ledger_gone_key uuid[], ledger_gone_at bigint[], ledger_gone_kind text[],
  ledger_key uuid[], ledger_at bigint[], ledger_kind text[], ledger_identity text[], ledger_text text[],
  definition_gone_key uuid[], definition_gone_at bigint[],
  definition_key uuid[], definition_at bigint[], definition_identity text[], definition_text text[],
  note_gone text[], note_key text[], note_text text[],
  object_gone text[], object_key text[], object_text text[],
  alive_gone_pool text[], alive_gone_number bigint[], alive_gone bigint[],
  alive_pool text[], alive_number bigint[], alive_from bigint[], alive_until bigint[]
) returns void language plpgsql as $$
begin
  perform kron.apply(me, my_number, my_timeline,
    document_gone, document_key, document_tail, document_text,
    claim_key, claim_at, claim_kind, claim_identity, claim_text, claim_token,
    ledger_gone_key, ledger_gone_at, ledger_gone_kind, ledger_key, ledger_at, ledger_kind, ledger_identity, ledger_text,
    definition_gone_key, definition_gone_at, definition_key, definition_at, definition_identity, definition_text,
    note_gone, note_key, note_text, object_gone, object_key, object_text,
    array[]::bigint[], array[]::bigint[], array[]::bigint[]);
  if cardinality(alive_gone) > 0 then
    -- What all shards have in common anybody may take away, and a daemon alone takes everything away.
    delete from kron.tenure t using unnest(alive_gone_pool, alive_gone_number, alive_gone) as g (pool, number, from_at)
      where t.from_at = g.from_at and (-1 in (t.number, g.number) or (t.pool = g.pool and t.number = g.number));
  end if;
  if cardinality(alive_from) > 0 then
    insert into kron.tenure (pool, number, from_at, until_at, session)
      select a.pool, a.number::int, a.from_at, a.until_at, me
      from unnest(alive_pool, alive_number, alive_from, alive_until) as a (pool, number, from_at, until_at)
      on conflict (pool, number, from_at) do update set until_at = excluded.until_at;
  end if;
end $$;
`;

/**
 * Who is in the way of a new session: nobody beside a daemon alone, and one of each name among several. Of the same directory
 * it is dead: whoever asks holds the lock of that. Deleting a session waits for its commits under way, and none follows.
 */
const ENTER = `
drop function kron.begin_session(uuid, text, text, int, text, text, int);

create function kron.enter(me uuid, my_node text, my_place text, my_pid int, my_engine text, my_tz text, lease_ms int,
  alone boolean, my_pools text[])
returns table (id uuid, node text, pid int, is_alone boolean, expires_ms float8, left_ms float8) language plpgsql as $$
begin
  -- One after the other.
  perform from kron.pool p where p.name = 'any' for no key update;
  if exists (select from kron.session s where s.id = me) then return; end if;
  delete from kron.session s where s.place = my_place or s.expires_at < clock_timestamp();
  return query select s.id, s.node, s.pid, s.is_alone, extract(epoch from s.expires_at)::float8 * 1000,
      extract(epoch from s.expires_at - clock_timestamp())::float8 * 1000
    from kron.session s where alone or s.is_alone or s.node = my_node order by s.node;
  if found then return; end if;
  insert into kron.session (id, node, place, pid, engine, tz, expires_at, is_alone, pools)
    values (me, my_node, my_place, my_pid, my_engine, my_tz, clock_timestamp() + lease_ms * interval '1 ms', alone, my_pools);
  if alone then
    -- What it puts in force nobody has applied: whoever comes next begins anew.
    update kron.shard s set revision = 0 where s.revision <> 0;
  else
    delete from kron.gone g where g.node = my_node;
    perform kron.make_pools(my_pools);
  end if;
end $$;

create function kron.begin_session(me uuid, my_node text, my_place text, my_pid int, my_engine text, my_tz text, lease_ms int)
returns table (id uuid, node text, pid int, is_alone boolean, expires_ms float8, left_ms float8) language sql as $$
  select * from kron.enter(me, my_node, my_place, my_pid, my_engine, my_tz, lease_ms, true, '{}')
$$;

create function kron.join_session(me uuid, my_node text, my_place text, my_pid int, my_engine text, my_tz text, lease_ms int,
  my_pools text[])
returns table (id uuid, node text, pid int, is_alone boolean, expires_ms float8, left_ms float8) language sql as $$
  select * from kron.enter(me, my_node, my_place, my_pid, my_engine, my_tz, lease_ms, false, my_pools)
$$;
`;

/**
 * Several may want the table of a month at once, and one may drop what another one is about to write to. Both need the ledger for
 * themselves for a moment. Where somebody reads all of it, as a backup does for hours, that moment does not come, and whoever
 * waited for it would hold up the commits of all nodes: then nothing is done, and told so.
 */
const MONTHS = `
drop function kron.make_month(uuid, text, bigint, bigint);
create function kron.make_month(me uuid, month text, from_at bigint, to_at bigint) returns boolean
language plpgsql set lock_timeout = '500ms' as $$
begin
  perform kron.hold(me);
  if to_regclass(format('kron.%I', month)) is not null then return true; end if;
  perform pg_advisory_xact_lock(5727401182337);
  execute format('create table if not exists kron.%I partition of kron.ledger for values from (%s) to (%s)', month, from_at, to_at);
  return true;
exception
  when check_violation then
    -- Some of it lies among the others already, written when there was no table of its own: there it stays.
    return true;
  when lock_not_available then
    return false;
end $$;

drop function kron.drop_month(uuid, text);
create function kron.drop_month(me uuid, month text) returns boolean
language plpgsql set lock_timeout = '500ms' as $$
begin
  perform kron.hold(me);
  perform pg_advisory_xact_lock(5727401182337);
  execute format('drop table if exists kron.%I', month);
  return true;
exception when lock_not_available then
  return false;
end $$;
`;

/** Definitions come from outside, as one set (C17). */
const WANTED = `
alter table kron.cluster add column revision bigint not null default 0, add column settings text;

create table kron.wanted (
  key uuid primary key,
  identity text collate "C" not null,
  pool text collate "C" not null references kron.pool,
  -- null: not wanted any more. Until its shard has let go of it the job belongs to nobody else.
  text text,
  -- That has changed it last.
  revision bigint not null
);
create index wanted_pool on kron.wanted (pool, key);
create index wanted_elsewhere on kron.wanted (key) where pool <> 'any';

-- A part of a set: what it changes, by the places of its rows. Whatever goes to another pool leaves the old one first: it is
-- moving, and leaving as long as that is under way.
create function kron.want(next bigint, keys uuid[], identities text[], pools text[], texts text[])
returns table (place int, what text) language sql as $$
  with found as (
    select a.*, w.text as old_text, coalesce(w.pool, case when d.text is not null then 'any' end) as old_pool,
      w.text is null and w.key is not null as is_leaving
    from unnest(keys, identities, pools, texts) with ordinality as a (key, identity, pool, text, place)
    left join kron.wanted w on w.key = a.key
    -- Without a row of its own a job that is in force belongs to any.
    left join lateral (select v.text from kron.definition v where w.key is null and v.key = a.key
      order by v.defined_at desc limit 1) d on true
  ), judged as (
    select f.*, case when f.old_pool <> f.pool and f.is_leaving then 'leaving' when f.old_pool <> f.pool then 'moving'
      when f.old_text is null then 'added'
      when f.old_text <> f.text then 'changed' end as what from found f
  ), written as (
    insert into kron.wanted (key, identity, pool, text, revision)
      select j.key, j.identity, case j.what when 'moving' then j.old_pool else j.pool end,
        case j.what when 'moving' then null else j.text end, next
      from judged j where j.what in ('added', 'changed', 'moving') order by j.key
      on conflict (key) do update set text = excluded.text, revision = excluded.revision
  )
  select j.place::int, j.what from judged j where j.what is not null
$$;

create function kron.want_no_others(next bigint, keys uuid[]) returns table (identity text) language sql as $$
  update kron.wanted w set text = null, revision = next
    where w.text is not null and not exists (select from unnest(keys) as k (key) where k.key = w.key) returning w.identity
$$;

-- In force by the files of a daemon that was alone, and not wanted by any row: the first set that is put in force takes it out.
create function kron.in_force_besides(keys uuid[]) returns table (identity text) language sql stable as $$
  select d.identity from (select distinct on (v.key) v.key, v.identity, v.text from kron.definition v
      order by v.key, v.defined_at desc) d
    where d.text is not null and not exists (select from unnest(keys) as k (key) where k.key = d.key)
      and not exists (select from kron.wanted w where w.key = d.key)
      and exists (select from kron.shard s where s.pool = 'any' and s.revision = 0)
$$;

-- What runs of a job is whose shard it lies in, also of one that is not wanted any more.
create function kron.is_running(job uuid) returns boolean language sql stable as $$
  select exists (select from kron.document d where d.key = job and strpos(d.text, '"ActiveExecution":{') > 0)
$$;

-- Of those that are moving: whose shard nobody holds, and so nobody looks after, has moved at once. The lock keeps it so. So has
-- one that its shard has let go of, when the last run of it is over: nothing of it begins there any more.
create function kron.move(next bigint, keys uuid[], pools text[], texts text[]) returns table (place int)
language plpgsql as $$
begin
  perform from kron.pool p where p.name in (select w.pool from kron.wanted w where w.key = any (keys))
    order by p.name for no key update;
  return query with unheld as (
    select a.* from unnest(keys, pools, texts) with ordinality as a (key, pool, text, place)
    join kron.wanted w on w.key = a.key join kron.pool p on p.name = w.pool
    where not exists (select from kron.shard s
      where s.pool = w.pool and s.number = kron.shard_number(a.key, p.shards) and s.session is not null
        and (s.revision < w.revision or kron.is_running(w.key)))
  ), written as (
    update kron.wanted w set pool = u.pool, text = u.text, revision = next from unheld u where w.key = u.key
  )
  select u.place::int from unheld u;
end $$;

-- What was in force before, and is not touched by it, needs nobody to do anything.
create function kron.announce(before bigint, next bigint, new_settings text, is_for_all boolean) returns void
language sql as $$
  with touched as (
    select distinct w.pool, kron.shard_number(w.key, p.shards) as number
    from kron.wanted w join kron.pool p on p.name = w.pool where w.revision = next
  )
  update kron.shard s set revision = next where s.revision = before and before > 0 and not is_for_all
    and (s.pool, s.number) not in (select t.pool, t.number from touched t);
  update kron.cluster set revision = next, settings = new_settings;
$$;

-- A shard has a revision in force: what is not wanted in it any more is free to go elsewhere, unless a run of it goes on. Whoever
-- watches that writes its document still.
create function kron.settle(me uuid, my_pool text, my_number int, my_revision bigint) returns void language sql as $$
  delete from kron.wanted w using kron.pool p
    where p.name = my_pool and w.pool = my_pool and w.text is null and w.revision <= my_revision and not kron.is_running(w.key)
      and w.key between kron.first_key(my_number, p.shards) and kron.last_key(my_number, p.shards)
      and exists (select from kron.shard s where s.pool = my_pool and s.number = my_number and s.session = me);
  update kron.shard s set revision = greatest(s.revision, my_revision)
    where s.pool = my_pool and s.number = my_number and s.session = me;
$$;
`;

/** What a node asks of another; it goes with either of them. */
const LETTERS = `
create table kron.letter (
  id uuid primary key,
  sender uuid not null references kron.session (id) on delete cascade,
  addressee uuid not null,
  text text not null,
  answer text,
  sent_at timestamptz not null default clock_timestamp(),
  constraint reader foreign key (addressee) references kron.session (id) on delete cascade
);
create index letter_sender on kron.letter (sender, sent_at);
create index letter_addressee on kron.letter (addressee, sent_at);
`;

/**
 * Every node looks several times a second: as long as nothing has to change, nothing is written or locked. Shards are even
 * among those who serve their pool and are not draining; who has one more than others keeps it.
 */
const PULSE = `
create function kron.balance(my_pool text) returns table (id uuid, node text, has int, target int) language sql stable as $$
  with server as (
    select s.id, s.node, s.is_draining,
      (select count(*) from kron.shard h where h.pool = my_pool and h.session = s.id)::int as has
    from kron.session s where not s.is_alone and my_pool = any (s.pools)
  ), taker as (
    select s.*, row_number() over (order by s.has desc, s.node) as place, count(*) over () as takers
    from server s where not s.is_draining
  )
  select t.id, t.node, t.has, (p.shards / t.takers)::int + (t.place <= p.shards % t.takers)::int
    from taker t join kron.pool p on p.name = my_pool
  union all select s.id, s.node, s.has, 0 from server s where s.is_draining
$$;

-- Everybody comes to the same list of what goes, and of the places that it goes to, and so nobody gets too much.
create function kron.surplus(me uuid, my_pool text) returns table (number int, heir text) language sql stable as $$
  with balance as (select * from kron.balance(my_pool)),
  leaving as (
    select b.id, h.number, row_number() over (order by b.node, h.number) as place
    from balance b cross join lateral (select s.number from kron.shard s where s.pool = my_pool and s.session = b.id
      order by s.number desc limit greatest(b.has - b.target, 0)) h
  ), room as (
    select b.node, row_number() over (order by level, b.node) as place
    from balance b cross join lateral generate_series(b.has + 1, b.target) as level
  )
  select l.number, r.node from leaving l left join room r on r.place = l.place where l.id = me order by l.number
$$;

create function kron.take(me uuid, my_pool text) returns void language plpgsql as $$
declare
  due int;
begin
  -- Two that take at once would both go by what was there before.
  perform from kron.pool p where p.name = my_pool for no key update;
  select b.target - b.has into due from kron.balance(my_pool) b where b.id = me;
  with free as materialized (
    select f.number from kron.shard f where f.pool = my_pool and f.session is null
    order by f.number limit greatest(due, 0) for update skip locked
  )
  update kron.shard s set session = me from free f where s.pool = my_pool and s.number = f.number;
end $$;

-- No row: the session is gone.
create function kron.pulse(me uuid, may_take boolean)
returns table (revision bigint, is_draining boolean, held json, surplus json, letters json, now_ms float8) language plpgsql
-- Planning costs many times what carrying it out does.
set plan_cache_mode = force_generic_plan as $$
declare
  mine kron.session;
  uneven text[] := '{}';
  one record;
begin
  if exists (select from kron.session s where s.expires_at < clock_timestamp()) then
    -- C3. One that still has a commit on its way is for the next look.
    delete from kron.session s where s.id in (
      select x.id from kron.session x where x.expires_at < clock_timestamp() for update skip locked);
  end if;
  select s.* into mine from kron.session s where s.id = me;
  if mine.id is null then return; end if;
  for one in
    select p.name, p.shards,
      (select count(*) from kron.session s where not s.is_alone and not s.is_draining and p.name = any (s.pools)) as takers,
      (select count(*) from kron.shard s where s.pool = p.name and s.session = me) as has,
      exists (select from kron.shard s where s.pool = p.name and s.session is null) as has_free
    from kron.pool p where p.name = any (mine.pools)
  loop
    if one.has_free and may_take and not mine.is_draining and one.has * one.takers < one.shards then
      perform kron.take(me, one.name);
    elsif one.has > 0 and (mine.is_draining or one.has * one.takers > one.shards - one.shards % nullif(one.takers, 0)) then
      uneven := uneven || one.name;
    end if;
  end loop;
  return query select c.revision, mine.is_draining,
    (select coalesce(json_agg(json_build_array(s.pool, s.number, s.revision, p.shards)), '[]')
      from kron.shard s join kron.pool p on p.name = s.pool where s.session = me),
    (select coalesce(json_agg(json_build_array(u.pool, x.number, x.heir)), '[]')
      from unnest(uneven) as u (pool) cross join lateral kron.surplus(me, u.pool) x),
    (select coalesce(json_agg(json_build_array(l.id, s.node, l.text) order by l.sent_at), '[]')
      from kron.letter l join kron.session s on s.id = l.sender where l.addressee = me and l.answer is null),
    extract(epoch from clock_timestamp())::float8 * 1000
    from kron.cluster c;
end $$;
`;

export const SEVERAL_NODES = SESSIONS + SHARDS + TENURES + ENTER + MONTHS + WANTED + LETTERS + PULSE;
