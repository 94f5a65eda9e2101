"""The state logic as DuckDB would be asked for it: window functions over the readings, ASOF joins for time lag."""

JUDGE = """
with readings as (
    select * from read_parquet($files, hive_partitioning = false) where kind <> 'dlq'
), steps as (
    select *,
        lag(consumer_offset) over by_queue as consumer_before,
        lag(broker_offset) over by_queue as broker_before
    from readings
    window by_queue as (partition by cluster, "group", topic, broker, queue_id order by taken_at)
), numbers as (
    select cluster, "group", topic, broker, queue_id, kind,
        count(*) as readings, min(taken_at) as first_at, max(taken_at) as last_at,
        max_by(consumer_offset, taken_at) as consumer_offset,
        max_by(broker_offset, taken_at) as broker_offset,
        max_by(min_offset, taken_at) as min_offset,
        min_by(consumer_offset, taken_at) as first_consumer_offset,
        min_by(broker_offset, taken_at) as first_broker_offset,
        max(consumer_offset) as highest,
        count(*) filter (consumer_offset <> consumer_before) as moves,
        max(taken_at) filter (consumer_before is null or consumer_offset <> consumer_before) as stood_since,
        coalesce(bool_or(broker_offset < broker_before), false) as recreated,
        coalesce(bool_or(consumer_before < min_offset and consumer_offset >= min_offset), false) as skipped,
        bool_or(broker_offset = consumer_offset and taken_at > $until - interval 60 second) as was_level
    from steps group by all
), knots as (
    select distinct cluster, topic, broker, queue_id, broker_offset, taken_at as at from readings
), lagging as (
    select * from numbers where broker_offset > consumer_offset
), earlier as (
    select lagging.*, knots.at as left_at, knots.broker_offset as left_offset
    from lagging asof left join knots
        on lagging.cluster = knots.cluster and lagging.topic = knots.topic and lagging.broker = knots.broker
        and lagging.queue_id = knots.queue_id and lagging.consumer_offset >= knots.broker_offset
), lags as (
    select earlier.cluster, earlier."group", earlier.topic, earlier.broker, earlier.queue_id,
        epoch(earlier.last_at) - epoch(left_at) - (earlier.consumer_offset - left_offset)
            / (knots.broker_offset - left_offset) * (epoch(knots.at) - epoch(left_at)) as time_lag_seconds
    from earlier asof left join knots
        on earlier.cluster = knots.cluster and earlier.topic = knots.topic and earlier.broker = knots.broker
        and earlier.queue_id = knots.queue_id and earlier.consumer_offset < knots.broker_offset
)
select numbers.*, lags.time_lag_seconds, case
    when epoch($until) - epoch(last_at) > 45 or readings < 4 or epoch(last_at) - epoch(first_at) < 45 then 'UNKNOWN'
    when recreated and readings < 4 then 'RECREATED'
    when highest > consumer_offset then 'REWIND'
    when consumer_offset < min_offset or skipped then 'LOSS'
    when broker_offset = consumer_offset or time_lag_seconds <= 60 or was_level then 'OK'
    when epoch(last_at) - epoch(stood_since) >= case kind when 'retry' then 300 else 120 end then 'STALL'
    when time_lag_seconds is null
        and consumer_offset - first_consumer_offset <= broker_offset - first_broker_offset then 'UNKNOWN'
    else 'OK' end as state
from numbers left join lags using (cluster, "group", topic, broker, queue_id)
"""
