"""PostgreSQL by psycopg 3: plain SQL beside the method that uses it, rows to dataclasses, no ORM."""
