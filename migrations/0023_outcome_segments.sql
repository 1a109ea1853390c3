-- Outcomes of one batch that are committed together are one row in columns: a segment. Fewer than pay for it are rows of
-- `outcome_rows`. Both are read by the views `all_outcomes` and `all_results`, and one request's by `outcome_of`.

alter table outcomes rename to outcome_rows;

create table outcome_segments (
    tenant_id uuid not null,
    batch_id uuid not null,
    -- All requests of a segment are of one block, 1,024 consecutive numbers (seq), so that few segments can hold a
    -- request.
    block integer not null,
    first_seq integer not null,
    last_seq integer not null,
    first_position integer not null,
    last_position integer not null,
    -- Of the results, uncompressed.
    result_bytes bigint not null,
    -- In columns, an element an outcome: those of `outcome_rows`, in ascending order of `seq`.
    seqs integer[] not null,
    positions integer[] not null,
    kinds text[] not null,
    rewards double precision[] not null,
    verdicts text[] not null,
    earliest_end_times timestamptz[] not null,
    finish_times timestamptz[] not null,
    results text[] not null,
    primary key (tenant_id, batch_id, block, first_seq),
    constraint outcome_segments_block check (
        first_seq >> 10 = block and last_seq >> 10 = block
        and seqs[1] = first_seq and seqs[cardinality(seqs)] = last_seq
        and array_position(seqs, null) is null
    ),
    constraint outcome_segments_lengths check (
        cardinality(seqs) > 0
        and cardinality(positions) = cardinality(seqs)
        and cardinality(kinds) = cardinality(seqs)
        and cardinality(rewards) = cardinality(seqs)
        and cardinality(verdicts) = cardinality(seqs)
        and cardinality(earliest_end_times) = cardinality(seqs)
        and cardinality(finish_times) = cardinality(seqs)
        and cardinality(results) = cardinality(seqs)
    ),
    constraint outcome_segments_kinds check (kinds <@ '{scored,timed_out,error}'::text[]),
    -- An infrastructure failure is never a number.
    constraint outcome_segments_rewards check (
        array_positions(rewards, null) = array_positions(kinds, 'error')
    )
);

-- A segment stays in its row where it fits.
alter table outcome_segments set (toast_tuple_target = 8160);

-- LZ4 where this PostgreSQL has it.
do $$ begin
    alter table outcome_segments
        alter column results set compression lz4,
        alter column verdicts set compression lz4,
        alter column kinds set compression lz4,
        alter column rewards set compression lz4,
        alter column earliest_end_times set compression lz4,
        alter column finish_times set compression lz4;
exception when feature_not_supported then
    raise notice 'this PostgreSQL has no LZ4; segments are compressed by its default';
end $$;

-- Every outcome without its result, and with it, for those who read many of a batch. Who reads a part of it says so of
-- the segments as well: `block` is `seq >> 10` and finds them, the firsts and lasts leave them unopened.
create view all_outcomes as
select tenant_id, batch_id, seq >> 10 as block, seq as first_seq, seq as last_seq,
    position as first_position, position as last_position, seq, position, kind, reward, verdict, earliest_end_at, finished_at
from outcome_rows
union all
select s.tenant_id, s.batch_id, s.block, s.first_seq, s.last_seq, s.first_position,
    s.last_position, o.seq, o.position, o.kind, o.reward, o.verdict, o.earliest_end_at, o.finished_at
from outcome_segments s cross join lateral unnest(
    s.seqs, s.positions, s.kinds, s.rewards, s.verdicts, s.earliest_end_times, s.finish_times
) as o (seq, position, kind, reward, verdict, earliest_end_at, finished_at);

create view all_results as
select tenant_id, batch_id, seq >> 10 as block, seq as first_seq, seq as last_seq,
    position as first_position, position as last_position, seq, position, kind, reward, verdict, earliest_end_at, finished_at, result::text as result
from outcome_rows
union all
select s.tenant_id, s.batch_id, s.block, s.first_seq, s.last_seq, s.first_position,
    s.last_position, o.seq, o.position, o.kind, o.reward, o.verdict, o.earliest_end_at, o.finished_at, o.result
from outcome_segments s cross join lateral unnest(
    s.seqs, s.positions, s.kinds, s.rewards, s.verdicts, s.earliest_end_times, s.finish_times, s.results
) as o (seq, position, kind, reward, verdict, earliest_end_at, finished_at, result);

-- The outcome of one request, if it has one. PostgreSQL puts the query in the place of the call, so that both sides are
-- looked up by their keys, and nothing is read of columns that the caller does not name.
create function outcome_of(tenant uuid, batch uuid, request integer)
returns table (
    seq integer, "position" integer, kind text, reward double precision, verdict text,
    earliest_end_at timestamptz, finished_at timestamptz, result text
)
language sql stable rows 1 as $$
    select o.seq, o.position, o.kind, o.reward, o.verdict, o.earliest_end_at, o.finished_at, o.result::text
    from outcome_rows o
    where o.tenant_id = tenant and o.batch_id = batch and o.seq = request
    union all
    select request, s.positions[i.at], s.kinds[i.at], s.rewards[i.at], s.verdicts[i.at],
        s.earliest_end_times[i.at], s.finish_times[i.at], s.results[i.at]
    from outcome_segments s cross join lateral array_position(s.seqs, request) as i (at)
    where s.tenant_id = tenant and s.batch_id = batch and s.block = request >> 10
        and s.first_seq <= request and s.last_seq >= request and i.at is not null
$$;

-- Ends a commit that holds an outcome which is there already.
create function refuse_outcome(batch uuid, request integer) returns boolean
language plpgsql as $$ begin
    raise exception 'the outcome of request % of batch % is there already', request, batch
        using errcode = 'unique_violation', constraint = 'outcomes_once';
end $$;

-- What servers of the release before know, which may run beside this one while it waits for its turn: it takes all that
-- they do, slowly.
create view outcomes as
select tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at, finished_at,
    result::json as result
from all_results;

create function write_outcomes() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
        perform refuse_outcome(new.batch_id, new.seq) where exists (
            select from outcome_segments s
            where s.tenant_id = new.tenant_id and s.batch_id = new.batch_id
                and s.block = new.seq >> 10 and array_position(s.seqs, new.seq) is not null
        );
        insert into outcome_rows (
            tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
            finished_at, result
        ) values (
            new.tenant_id, new.batch_id, new.seq, new.position, new.kind, new.reward, new.verdict,
            new.earliest_end_at, new.finished_at, new.result
        );
        return new;
    end if;
    delete from outcome_rows r
    where r.tenant_id = old.tenant_id and r.batch_id = old.batch_id and r.seq = old.seq;
    if not found then
        -- With its first outcome the whole segment.
        delete from outcome_segments s
        where s.tenant_id = old.tenant_id and s.batch_id = old.batch_id
            and s.block = old.seq >> 10 and array_position(s.seqs, old.seq) is not null;
    end if;
    return old;
end $$;

create trigger write_outcomes instead of insert or delete on outcomes
for each row execute function write_outcomes();
