-- jobs: the one registry of scheduled work, for jobs made over HTTP and in SQL alike.
-- Tables and views have the columns of timescale/timescaledb (sql/views.sql, tsl/src/bgw_policy/job_api.c); the
-- functions over them (add_job, alter_job, ...) belong to the time-series pack. tidegate.job_options holds what that
-- registry has no column for. Portable: PostgreSQL 15 and later, PGlite, no superuser.

create schema if not exists timeseries_internal;
create schema if not exists timeseries_information;

-- Below 1000 are internal jobs.
create sequence timeseries_internal.job_id_seq as integer minvalue 1 start with 1000;

create table timeseries_internal.jobs (
  job_id            integer     primary key default nextval('timeseries_internal.job_id_seq'),
  application_name  text        not null check (octet_length(application_name) <= 63),
  schedule_interval interval    not null check (schedule_interval > interval '0'),
  max_runtime       interval    not null default '0' check (max_runtime >= interval '0'), -- 0 = no limit
  max_retries       integer     not null default -1 check (max_retries >= -1), -- -1 = no limit
  retry_period      interval    not null default '5 minutes' check (retry_period >= interval '0'),
  proc_schema       name        not null,
  proc_name         name        not null,
  owner             regrole     not null default quote_ident(current_user)::regrole,
  scheduled         boolean     not null default true,
  fixed_schedule    boolean     not null default true,
  initial_start     timestamptz,
  timezone          text,
  config            jsonb,
  check_schema      name,
  check_name        name
);

alter sequence timeseries_internal.job_id_seq owned by timeseries_internal.jobs.job_id;

-- A job that never ran has -infinity times. run_id: the run that holds the job now; it is what keeps a job from
-- overlapping itself, since two claims of one job meet on this row.
create table timeseries_internal.job_stats (
  job_id                  integer     primary key references timeseries_internal.jobs on delete cascade,
  last_start              timestamptz not null default '-infinity',
  last_finish             timestamptz not null default '-infinity',
  next_start              timestamptz not null default '-infinity',
  last_successful_finish  timestamptz not null default '-infinity',
  last_run_success        boolean,
  total_runs              bigint      not null default 0,
  total_duration          interval    not null default '0',
  total_duration_failures interval    not null default '0',
  total_successes         bigint      not null default 0,
  total_failures          bigint      not null default 0,
  total_crashes           bigint      not null default 0,
  consecutive_failures    integer     not null default 0,
  consecutive_crashes     integer     not null default 0,
  flags                   integer     not null default 0,
  run_id                  uuid
);

create index job_stats_next_start on timeseries_internal.job_stats (next_start);

-- One row a run, from its start on; a running one has no finish_time. No foreign key to jobs: history outlives its job.
create table timeseries_internal.job_history (
  id               bigint      generated always as identity primary key,
  job_id           integer     not null,
  run_id           uuid        not null unique,
  started_by       text        not null check (started_by in ('schedule', 'request')),
  attempt          integer     not null check (attempt >= 1),
  outcome          text        not null default 'running'
                               check (outcome in ('running', 'succeeded', 'failed', 'crashed', 'timed_out')),
  due_at           timestamptz not null,
  start_time       timestamptz not null,
  finish_time      timestamptz,
  lease_owner      text        not null,
  lease_expires_at timestamptz not null,
  concurrency_key  text,
  proc_schema      name        not null,
  proc_name        name        not null,
  owner            regrole     not null,
  config           jsonb,
  pid              integer,
  succeeded        boolean,
  sqlerrcode       text,
  err_message      text,
  error            jsonb, -- {code, message, hint}
  output           jsonb,
  logged           boolean     not null default false, -- listed in the job_history view
  check ((outcome = 'running') = (finish_time is null))
);

create index job_history_of_job on timeseries_internal.job_history (job_id, id desc);
create unique index job_history_one_at_a_time on timeseries_internal.job_history (job_id) where finish_time is null;
create unique index job_history_concurrency on timeseries_internal.job_history (concurrency_key)
  where finish_time is null and concurrency_key is not null;

-- Settings of the pack by name; `restoring` = on: no job is started.
create table timeseries_internal.settings (
  name  text primary key,
  value text not null
);

create table tidegate.job_options (
  job_id               integer     primary key references timeseries_internal.jobs on delete cascade,
  name                 text        check (char_length(name) between 1 and 63),
  cron_expression      text, -- its zone is jobs.timezone; null = an interval schedule
  interval_texts       jsonb       not null default '{}', -- intervals as they were written: {every, max_runtime, retry_period}
  concurrency_key      text, -- jobs with one key never run at the same time
  alert_url            text,
  alert_after_failures integer     not null default 1 check (alert_after_failures >= 1),
  owner_key_id         text,
  created_at           timestamptz not null default now()
);

-- Runs asked for in SQL (CALL of a poll), taken at the next tick.
create table tidegate.job_requests (
  job_id       integer     primary key references timeseries_internal.jobs on delete cascade,
  requested_at timestamptz not null default now()
);

-- The routine of jobs that fetch: the fetching is done by the gateway, so a call only asks for a run.
create procedure tidegate.poll(job_id integer default null, config jsonb default null)
  language plpgsql
as $$
begin
  if job_id is null then
    raise exception 'job ID cannot be NULL' using errcode = '22023';
  end if;
  if not exists (
    select from timeseries_internal.jobs j
     where j.job_id = poll.job_id and j.proc_schema = 'tidegate' and j.proc_name = 'poll'
  ) then
    raise exception 'job % not found', job_id using errcode = '42704', hint = 'Only a job of tidegate.poll can be polled.';
  end if;
  insert into tidegate.job_requests (job_id) values (poll.job_id) on conflict do nothing;
end
$$;

-- "months days microseconds": the three parts of an interval, whatever IntervalStyle is.
create function timeseries_internal.interval_parts(i interval) returns text
  language sql immutable strict parallel safe
  return (extract(year from i) * 12 + extract(month from i))::bigint || ' ' || extract(day from i)::bigint || ' '
      || (extract(hour from i) * 3600000000 + extract(minute from i) * 60000000 + extract(microseconds from i))::bigint;

-- Microseconds since 1970 as text; null for the infinities.
create function timeseries_internal.epoch_micros(ts timestamptz) returns text
  language sql stable strict parallel safe
  return case when isfinite(ts) then (extract(epoch from ts) * 1000000)::bigint::text end;

-- Runs and errors are for the owner of the job and of the database.
create function timeseries_internal.may_see_runs(owner regrole) returns boolean
  language sql stable
  return pg_has_role(current_user, owner, 'member')
      or pg_has_role(current_user, (select datdba from pg_database where datname = current_database()), 'member');

create view timeseries_information.jobs as
  select j.job_id, j.application_name, j.schedule_interval, j.max_runtime, j.max_retries, j.retry_period,
         j.proc_schema, j.proc_name, j.owner, j.scheduled, j.fixed_schedule, j.config, s.next_start, j.initial_start,
         null::name as hypertable_schema, null::name as hypertable_name, j.check_schema, j.check_name
    from timeseries_internal.jobs j
    left join timeseries_internal.job_stats s using (job_id);

create view timeseries_information.job_stats as
  select null::name as hypertable_schema, null::name as hypertable_name, j.job_id,
         s.last_start as last_run_started_at, s.last_successful_finish,
         case when s.last_finish > '-infinity' then case when s.last_run_success then 'Success' else 'Failed' end
         end as last_run_status,
         case when s.run_id is not null then 'Running' when not j.scheduled then 'Paused' else 'Scheduled'
         end as job_status,
         case when s.last_finish > s.last_start then s.last_finish - s.last_start end as last_run_duration,
         case when j.scheduled then s.next_start end as next_start,
         s.total_runs, s.total_successes, s.total_failures
    from timeseries_internal.jobs j
    join timeseries_internal.job_stats s using (job_id);

create view timeseries_information.job_errors with (security_barrier) as
  select job_id, proc_schema, proc_name, pid, start_time, finish_time, sqlerrcode, err_message
    from timeseries_internal.job_history
   where succeeded is false and timeseries_internal.may_see_runs(owner);

create view timeseries_information.job_history with (security_barrier) as
  select id, job_id, succeeded, proc_schema, proc_name, pid, start_time, finish_time, config, sqlerrcode, err_message
    from timeseries_internal.job_history
   where logged and timeseries_internal.may_see_runs(owner);

grant usage on schema timeseries_information to public;
grant select on all tables in schema timeseries_information to public;
-- A view calls its functions as the reader.
grant usage on schema timeseries_internal to public;

-- Retention of the history, as internal job 3 of the original.
create procedure timeseries_internal.policy_job_history_retention(job_id integer default null, config jsonb default null)
  language plpgsql
as $$
begin
  delete from timeseries_internal.job_history h
   using (
     select id, row_number() over (partition by r.job_id, r.succeeded order by id desc) as age
       from timeseries_internal.job_history r
      where finish_time is not null
   ) ranked
   where h.id = ranked.id
     and (h.finish_time < now() - coalesce((policy_job_history_retention.config ->> 'drop_after')::interval, '1 month')
          or ranked.age > case when h.succeeded then coalesce((policy_job_history_retention.config ->> 'max_successes_per_job')::integer, 1000)
                               else coalesce((policy_job_history_retention.config ->> 'max_failures_per_job')::integer, 1000) end);
end
$$;

insert into timeseries_internal.jobs
  (job_id, application_name, schedule_interval, max_runtime, proc_schema, proc_name, fixed_schedule, initial_start, config)
values
  (3, 'Job History Log Retention Policy [3]', '6 hours', '5 minutes', 'timeseries_internal',
   'policy_job_history_retention', true, '2000-01-01 00:00:00+00',
   '{"drop_after": "1 month", "max_successes_per_job": 1000, "max_failures_per_job": 1000}');
insert into timeseries_internal.job_stats (job_id, next_start) values (3, now() + interval '6 hours');
