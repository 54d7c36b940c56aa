-- The tables of a Postgres sink, for databases in which the operator may not create any.
-- Run it as their owner; `kollect_writer` is the role in the sink's connection string.
CREATE TABLE public.inventory_items (
  inventory_namespace TEXT NOT NULL,
  inventory_name TEXT NOT NULL,
  target_name TEXT NOT NULL,
  source_uid TEXT NOT NULL,
  cluster TEXT NOT NULL DEFAULT '',
  resource_namespace TEXT NOT NULL DEFAULT '',
  payload JSONB NOT NULL,
  exported_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (inventory_namespace, inventory_name, target_name, source_uid, cluster)
) WITH (fillfactor = 90);

-- What is recorded of each inventory. Without it the sink works, but compares all rows at every start.
CREATE TABLE public.inventory_items_kollect (
  inventory_namespace TEXT NOT NULL,
  inventory_name TEXT NOT NULL,
  cluster TEXT NOT NULL DEFAULT '',
  writer TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  digest TEXT,
  rows BIGINT,
  projection TEXT NOT NULL,
  views JSONB,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (inventory_namespace, inventory_name, cluster)
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE, DELETE ON public.inventory_items, public.inventory_items_kollect TO kollect_writer;
