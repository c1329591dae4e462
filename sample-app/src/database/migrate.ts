import type { Pool } from 'pg';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS products (
    id       integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name     text    NOT NULL,
    category text    NOT NULL,
    price    integer NOT NULL  -- in cents
  );
  CREATE INDEX IF NOT EXISTS products_category ON products (category, id);

  CREATE TABLE IF NOT EXISTS orders (
    id         integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    product_id integer NOT NULL,
    quantity   integer NOT NULL,
    price      integer NOT NULL  -- in cents, as it was when the order was placed
  );
`;

const SEED_PRODUCTS = `
  INSERT INTO products (name, category, price)
  SELECT
    initcap((ARRAY['red', 'blue', 'green', 'striped', 'plain'])[1 + n % 5] || ' ' || category) || ' no. ' || n,
    category,
    500 + (n * 7919) % 9500
  FROM (
    SELECT n, (ARRAY['mug', 'lamp', 'chair', 'poster'])[1 + n % 4] AS category FROM generate_series(1, 1000) AS n
  ) AS numbered;
`;

const SEED_ORDERS = `
  INSERT INTO orders (product_id, quantity, price)
  SELECT products.id, 1 + n % 3, products.price
  FROM generate_series(1, $1::integer) AS n
  -- Squaring makes some products sell better than others.
  JOIN products ON products.id = 1 + ((n * 37 % 1000)::bigint * (n * 37 % 1000)) / 1000;
`;

/** Creates the tables, and fills them if they are empty. */
export async function migrate(pool: Pool, { orders }: { orders: number }): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    // Several instances may start at once: one seeds, the others wait for it.
    await client.query('SELECT pg_advisory_xact_lock(2024)');
    await client.query(SCHEMA);
    const { rowCount } = await client.query('SELECT 1 FROM products LIMIT 1');
    if (rowCount === 0) {
      await client.query(SEED_PRODUCTS);
      await client.query(SEED_ORDERS, [orders]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // the first error is the one to tell
    throw error;
  } finally {
    client.release();
  }
}
