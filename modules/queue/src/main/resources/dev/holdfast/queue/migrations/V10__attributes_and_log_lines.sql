-- What a job brings along for its worker besides the payload: assetId, partitionKey, resources and
-- traceparent. NULL for nearly all jobs, which costs them a bit.
ALTER TABLE holdfast.job ADD COLUMN attributes jsonb;

-- With how many lines of its attempt a piece ends, where lines are sent one by one and may come
-- again. NULL where a worker counts the pieces itself.
ALTER TABLE holdfast.log ADD COLUMN lines bigint;
