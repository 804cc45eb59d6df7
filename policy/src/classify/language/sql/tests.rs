//! What texts of SQL come to, by their clients.

use super::*;
use crate::knowledge::Knowledge;
use Client::{Duckdb, Mysql, Postgres, Sqlite};

#[test]
fn classes() {
    for (text, class, client) in [
        ("SELECT * FROM t WHERE a = 'DROP TABLE t'", Read, Sqlite),
        ("select 1; select 2;", Read, Sqlite),
        ("SHOW CREATE TABLE t", Read, Mysql),
        ("SHOW PROCESSLIST\\G", Read, Mysql),
        ("SHOW PROCESSLIST\\! id", Write, Mysql),
        ("EXPLAIN SELECT 1", Read, Sqlite),
        ("EXPLAIN ANALYZE DELETE FROM t", Destructive, Sqlite),
        (".tables", Read, Sqlite),
        (".schema t", Read, Sqlite),
        (".shell rm x", Write, Sqlite),
        (".output f", Write, Sqlite),
        ("\\dt", Read, Postgres),
        ("\\! rm x", Write, Postgres),
        ("\\copy t to 'f'", Write, Postgres),
        ("INSERT INTO t VALUES (1)", Write, Sqlite),
        ("DELETE FROM t WHERE id = 1", Write, Sqlite),
        ("DELETE FROM t", Destructive, Sqlite),
        ("select 1; DROP TABLE t", Destructive, Sqlite),
        ("TRUNCATE t", Destructive, Sqlite),
        ("SELECT * INTO OUTFILE '/tmp/x' FROM t", Write, Mysql),
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", Destructive, Sqlite),
        ("", Read, Sqlite),
        ("PRAGMA table_info(t)", Read, Sqlite),
        ("PRAGMA journal_mode=wal", Write, Sqlite),
        ("PRAGMA journal_mode(wal)", Write, Sqlite),
        ("PRAGMA main.user_version", Read, Sqlite),
        ("PRAGMA optimize", Write, Sqlite),
        ("select 'a\\'; drop table t; --'", Destructive, Sqlite),
    ] {
        assert_eq!(classify(text, client, Knowledge::builtin().sql()), class, "{text}");
    }
}

/// Where one database sees a string another sees a name, a comment or code.
#[test]
fn readings() {
    for (text, class, client) in [
        (r#"select 1 as "--"; drop table t"#, Destructive, Postgres),
        ("select 1--1; drop table t", Destructive, Mysql),
        ("select 1 -- 1; drop table t", Read, Mysql),
        ("select 1 # '\n; drop table t; -- '", Destructive, Mysql),
        ("select $$'$$; drop table t; --'", Destructive, Postgres),
        ("select $a$'$a$, 'x'", Read, Postgres),
        ("select $1 from t", Read, Postgres),
        ("select * from t where a ~ '\\d+'", Read, Postgres),
        ("select E'\\'; drop table t; --'", Destructive, Postgres),
        ("select 1 as [']; drop table t; --'", Destructive, Sqlite),
        ("/* what is there */ select 1", Read, Postgres),
        ("/*! drop table t */ select 1", Destructive, Mysql),
        (".tables '\n.shell touch x\n.tables '", Write, Sqlite),
        ("\\dt \\! touch x", Write, Postgres),
        ("\\d \"My Table\"", Read, Postgres),
        ("help '\nsystem touch x\nhelp '", Write, Mysql),
        ("\\d // drop table t//", Destructive, Mysql),
        ("select * from 'https://h/x.csv'", Network, Duckdb),
        ("select 'https://h/x.csv'", Read, Postgres),
        ("FROM 'x.parquet' LIMIT 3", Read, Duckdb),
        ("install httpfs", crate::CommandClass::Install, Duckdb),
        ("select 1; drop table t", Destructive, Client::Any),
    ] {
        assert_eq!(classify(text, client, Knowledge::builtin().sql()), class, "{text}");
    }
}

#[test]
fn calls_and_settings() {
    for (text, class) in [
        ("select count(*), max(x.y) from a join b using (id) where c in (1, 2) and exists (select 1)", Read),
        ("with t(a, b) as (select 1, 2) select * from t", Read),
        ("with recursive t(n) as not materialized (values (1)) select n::numeric(10,2) from t", Read),
        ("select * from generate_series(1, 3) g(n)", Read),
        ("select pg_size_pretty(pg_total_relation_size('t'))", Read),
        ("select pg_catalog.format_type(a, b)", Read),
        ("select pg_reload_conf()", Write),
        ("select cron.schedule('x', 'y')", Write),
        ("select * from dblink('host=h') as (a int)", Write),
        ("select \"lo_unlink\"(5)", Write),
        ("set search_path to x", Read),
        ("set local statement_timeout = 3", Read),
        ("set session authorization x", Write),
        ("set role x", Write),
        ("commit prepared 'x'", Write),
    ] {
        assert_eq!(classify(text, Postgres, Knowledge::builtin().sql()), class, "{text}");
    }
    for text in ["set password = 'x'", "set @@global.read_only = 0", "set persist_only x = 1"] {
        assert_eq!(classify(text, Mysql, Knowledge::builtin().sql()), Write, "{text}");
    }
    assert_eq!(classify("set @x = 1; select @x", Mysql, Knowledge::builtin().sql()), Read);
}
