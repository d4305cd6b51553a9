CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY, cents bigint NOT NULL);
CREATE TABLE IF NOT EXISTS ledger (order_id uuid NOT NULL REFERENCES orders, cents bigint NOT NULL);
