/**
 * The schema, as it came to be: each migration is frozen once it was released. Rows belong to a shard of a pool, which belongs
 * to the session that holds it.
 *
 * Texts are texts and not jsonb, which costs the server half as much and keeps what S30 says to the byte. What sorts by
 * its bytes here does so everywhere (`collate "C"`).
 */

import { FAILOVERS } from "./cluster/failover-schema.js";
import { SEVERAL_NODES } from "./cluster/schema.js";
import { TURNS } from "./cluster/turn-schema.js";

/** Everything of ours lies in it. */
export const SCHEMA = "kron";

/** What the texts are; beside the version of the tables, which says how they lie. */
export const FORMAT = 1;

const TABLES = `
create table kron.cluster (
  one boolean primary key default true check (one),
  store_id uuid not null,
  format int not null,
  generation bigint not null,
  system_id text not null,
  timeline text not null,
  is_loading boolean not null default false
);

create table kron.session (
  id uuid primary key,
  node text collate "C" not null unique,
  -- The directory of the node, by its boot and its inode: its lock says which daemon of this host lives.
  place text collate "C" not null,
  pid int not null,
  engine text not null,
  tz text not null,
  started_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
) with (fillfactor = 10);

create table kron.commit (
  session uuid not null,
  number bigint not null,
  constraint once primary key (session, number),
  constraint fence foreign key (session) references kron.session (id) on delete cascade
);

create table kron.pool (
  name text collate "C" primary key,
  shards int not null
);

create table kron.shard (
  pool text collate "C" not null references kron.pool,
  number int not null,
  session uuid references kron.session (id) on delete set null,
  primary key (pool, number)
) with (fillfactor = 20);
create index shard_session on kron.shard (session);
insert into kron.pool (name, shards) values ('any', 1);
insert into kron.shard (pool, number) values ('any', 0);

create table kron.tenure (
  pool text collate "C" not null,
  number int not null,
  from_at bigint not null,
  until_at bigint not null,
  session uuid not null,
  primary key (pool, number, from_at)
) with (fillfactor = 60);

-- A key is the first half of the SHA-256 of an identity, a tail the second.
create table kron.document (
  key uuid primary key,
  tail uuid not null,
  text text not null
) with (fillfactor = 60);

create table kron.definition (
  key uuid not null,
  defined_at bigint not null,
  identity text collate "C" not null,
  text text,
  primary key (key, defined_at)
);

create table kron.ledger (
  key uuid not null,
  at bigint not null,
  kind text collate "C" not null,
  identity text collate "C" not null,
  text text not null,
  -- Of a claim: the attempt that has it, and the session that wrote it.
  token text,
  session uuid,
  constraint claim primary key (key, at, kind)
) partition by range (at);
create table kron.ledger_others partition of kron.ledger default;

create table kron.note (
  key text collate "C" primary key,
  text text not null
);

create table kron.object (
  key text collate "C" primary key,
  text text not null
);
`;

/** The history of a server changes its number when a replica takes over. */
const TIMELINE = `
create function kron.timeline() returns text language sql as $$
  select left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
$$;
`;

/** Granted: no row. Else who has it, and until when. */
const BEGIN_SESSION = `
create function kron.begin_session(me uuid, my_node text, my_place text, my_pid int, my_engine text, my_tz text, lease_ms int)
returns table (id uuid, node text, pid int, expires_ms float8, left_ms float8) language plpgsql as $$
declare
  holder kron.session;
begin
  perform from kron.shard s where s.pool = 'any' and s.number = 0 for update;
  select h.* into holder from kron.session h join kron.shard s on s.session = h.id where s.pool = 'any' and s.number = 0;
  if holder.id is not null then
    if holder.id = me then return; end if;
    -- Of the same directory it is dead: whoever asks holds the lock of that. This waits for its commits under way, and none follows.
    delete from kron.session h
      where h.id = holder.id and (h.place = my_place or h.expires_at < clock_timestamp());
    if not found then
      return query select holder.id, holder.node, holder.pid, extract(epoch from holder.expires_at)::float8 * 1000,
        extract(epoch from holder.expires_at - clock_timestamp())::float8 * 1000;
      return;
    end if;
  end if;
  delete from kron.session h where h.node = my_node and h.expires_at < clock_timestamp();
  insert into kron.session (id, node, place, pid, engine, tz, expires_at)
    values (me, my_node, my_place, my_pid, my_engine, my_tz, clock_timestamp() + lease_ms * interval '1 ms');
  update kron.shard s set session = me where s.pool = 'any' and s.number = 0;
end $$;
`;

/**
 * One commit. Its number is first: a commit that was carried out before changes nothing, and one whose session is gone
 * cannot be. Claims come before everything else: what is there before the commit refuses them.
 */
const APPLY = `
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
  alive_gone bigint[], alive_from bigint[], alive_until bigint[]
) returns void language plpgsql as $$
begin
  if my_timeline <> kron.timeline() then raise exception 'the server is on another timeline' using errcode = 'KR003'; end if;
  if current_setting('synchronous_commit') = 'off' then
    raise exception 'synchronous_commit is off' using errcode = 'KR004';
  end if;
  -- The rows of old numbers are swept away: the newest one speaks for them.
  if my_number <= (select max(c.number) from kron.commit c where c.session = me) then
    raise exception 'applied before' using errcode = 'KR002';
  end if;
  insert into kron.commit (session, number) values (me, my_number);
  if cardinality(claim_key) > 0 then
    insert into kron.ledger (key, at, kind, identity, text, token, session)
      select c.key, c.at, c.kind, c.identity, c.text, c.token, me
      from unnest(claim_key, claim_at, claim_kind, claim_identity, claim_text, claim_token)
        as c (key, at, kind, identity, text, token);
  end if;
  if cardinality(ledger_gone_key) > 0 then
    delete from kron.ledger l using unnest(ledger_gone_key, ledger_gone_at, ledger_gone_kind) as g (key, at, kind)
      where l.key = g.key and l.at = g.at and l.kind = g.kind;
  end if;
  if cardinality(ledger_key) > 0 then
    insert into kron.ledger (key, at, kind, identity, text)
      select l.key, l.at, l.kind, l.identity, l.text
      from unnest(ledger_key, ledger_at, ledger_kind, ledger_identity, ledger_text) as l (key, at, kind, identity, text)
      on conflict (key, at, kind) do update set text = excluded.text;
  end if;
  if cardinality(document_gone) > 0 then
    delete from kron.document d where d.key = any (document_gone);
  end if;
  if cardinality(document_key) > 0 then
    insert into kron.document (key, tail, text)
      select d.key, d.tail, d.text from unnest(document_key, document_tail, document_text) as d (key, tail, text)
      on conflict (key) do update set text = excluded.text;
  end if;
  if cardinality(definition_gone_key) > 0 then
    delete from kron.definition d using unnest(definition_gone_key, definition_gone_at) as g (key, at)
      where d.key = g.key and d.defined_at = g.at;
  end if;
  if cardinality(definition_key) > 0 then
    insert into kron.definition (key, defined_at, identity, text)
      select d.key, d.at, d.identity, d.text
      from unnest(definition_key, definition_at, definition_identity, definition_text) as d (key, at, identity, text)
      on conflict (key, defined_at) do update set text = excluded.text;
  end if;
  if cardinality(note_gone) > 0 then delete from kron.note n where n.key = any (note_gone); end if;
  if cardinality(note_key) > 0 then
    insert into kron.note (key, text) select n.key, n.text from unnest(note_key, note_text) as n (key, text)
      on conflict (key) do update set text = excluded.text;
  end if;
  if cardinality(object_gone) > 0 then delete from kron.object o where o.key = any (object_gone); end if;
  if cardinality(object_key) > 0 then
    insert into kron.object (key, text) select o.key, o.text from unnest(object_key, object_text) as o (key, text)
      on conflict (key) do update set text = excluded.text;
  end if;
  if cardinality(alive_gone) > 0 then
    delete from kron.tenure t where t.pool = 'any' and t.number = 0 and t.from_at = any (alive_gone);
  end if;
  if cardinality(alive_from) > 0 then
    insert into kron.tenure (pool, number, from_at, until_at, session)
      select 'any', 0, a.from_at, a.until_at, me from unnest(alive_from, alive_until) as a (from_at, until_at)
      on conflict (pool, number, from_at) do update set until_at = excluded.until_at;
  end if;
end $$;
`;

/**
 * Tables of the ledger, made and dropped by the session that holds the store and by no other: whoever takes it over waits for
 * what is under way, and nothing follows.
 */
const MONTHS = `
create function kron.hold(me uuid) returns void language plpgsql as $$
begin
  perform from kron.session s where s.id = me for key share;
  if not found then raise exception 'the session is gone' using errcode = 'KR005'; end if;
end $$;

create function kron.make_month(me uuid, month text, from_at bigint, to_at bigint) returns void language plpgsql as $$
begin
  perform kron.hold(me);
  execute format('create table if not exists kron.%I partition of kron.ledger for values from (%s) to (%s)', month, from_at, to_at);
end $$;

create function kron.drop_month(me uuid, month text) returns void language plpgsql as $$
begin
  perform kron.hold(me);
  execute format('drop table if exists kron.%I', month);
end $$;
`;

/** The version of a schema is how many of them it has seen. */
export const MIGRATIONS: readonly string[] = [
  TABLES + TIMELINE + BEGIN_SESSION + APPLY + MONTHS,
  SEVERAL_NODES,
  FAILOVERS,
  TURNS,
];
