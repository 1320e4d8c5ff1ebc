package sqlcatalog

import (
	"context"
	"database/sql"

	"github.com/retake-dev/retake/internal/storage/migrate"
)

// migrations are append-only: a released text never changes. Each runs in one transaction; its
// position is its version. A step only adds, as in package sqldb.
var migrations = [][]string{
	{
		`CREATE TABLE writer (
			ns TEXT NOT NULL, notices BIGINT NOT NULL,
			PRIMARY KEY (ns))`,
		`CREATE TABLE workspace (
			ns TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, root BYTEA NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE checkpoint (
			ns TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, parent TEXT NOT NULL,
			time_us BIGINT NOT NULL, trigger TEXT NOT NULL, intent TEXT NOT NULL, tree TEXT NOT NULL, content TEXT NOT NULL,
			grade TEXT NOT NULL, files BIGINT NOT NULL, dirs BIGINT NOT NULL, bytes BIGINT NOT NULL, new_bytes BIGINT NOT NULL,
			added BIGINT NOT NULL, deleted BIGINT NOT NULL, edited BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id), UNIQUE (ns, workspace, number))`,
		`CREATE INDEX checkpoint_time ON checkpoint (ns, workspace, time_us, number)`,
		`CREATE INDEX checkpoint_id ON checkpoint (ns, workspace, id)`,
		`CREATE INDEX checkpoint_grade ON checkpoint (ns, workspace, grade, number)`,
		`CREATE TABLE tombstone (
			ns TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id), UNIQUE (ns, workspace, number))`,
		`CREATE TABLE pin (
			ns TEXT NOT NULL, workspace TEXT NOT NULL, name TEXT NOT NULL, checkpoint TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, workspace, name))`,
		`CREATE TABLE outbox (
			ns TEXT NOT NULL, id BIGINT NOT NULL, topic TEXT NOT NULL, workspace TEXT NOT NULL, checkpoint TEXT NOT NULL,
			time_us BIGINT NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE mark (
			ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
			PRIMARY KEY (ns, key))`,
	},
	{
		`CREATE INDEX checkpoint_content ON checkpoint (ns, workspace, content, number)`,
		`CREATE TABLE finding (
			ns TEXT NOT NULL, checkpoint TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, v BIGINT NOT NULL,
			head TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, checkpoint))`,
		`CREATE INDEX finding_number ON finding (ns, workspace, number, v)`,
		`CREATE INDEX finding_head ON finding (ns, workspace, head, number)`,
		`CREATE TABLE fact (
			ns TEXT NOT NULL, checkpoint TEXT NOT NULL, seq BIGINT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL,
			kind TEXT NOT NULL, name BYTEA NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, checkpoint, seq))`,
		`CREATE INDEX fact_name ON fact (ns, workspace, name, number)`,
		`CREATE TABLE place (
			ns TEXT NOT NULL, checkpoint TEXT NOT NULL, workspace TEXT NOT NULL, number BIGINT NOT NULL, folded TEXT NOT NULL,
			body BYTEA NOT NULL,
			PRIMARY KEY (ns, checkpoint), UNIQUE (ns, workspace, number))`,
		`CREATE TABLE verification (
			ns TEXT NOT NULL, id TEXT NOT NULL, workspace TEXT NOT NULL, checkpoint TEXT NOT NULL, number BIGINT NOT NULL,
			content TEXT NOT NULL, name BYTEA NOT NULL, command BYTEA NOT NULL, started_us BIGINT NOT NULL, body BYTEA NOT NULL,
			output BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE INDEX verification_started ON verification (ns, workspace, started_us, id)`,
		`CREATE INDEX verification_content ON verification (ns, workspace, content)`,
		`CREATE INDEX verification_checkpoint ON verification (ns, checkpoint)`,
		`CREATE TABLE reading (
			ns TEXT NOT NULL, reader TEXT NOT NULL, object TEXT NOT NULL, seq BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, reader, object), UNIQUE (ns, seq))`,
	},
	{ // counting a long timeline row by row costs more than a page of it
		`CREATE TABLE tally (
			ns TEXT NOT NULL, workspace TEXT NOT NULL, live BIGINT NOT NULL,
			PRIMARY KEY (ns, workspace))`,
		`INSERT INTO tally (ns, workspace, live) SELECT ns, workspace, COUNT(*) FROM checkpoint GROUP BY ns, workspace`,
	},
	{ // a save must know what its workspace and its key take, and may not add up a timeline
		`CREATE TABLE brought (
			ns TEXT NOT NULL, workspace TEXT NOT NULL, key TEXT NOT NULL, bytes BIGINT NOT NULL,
			PRIMARY KEY (ns, workspace, key))`,
		`INSERT INTO brought (ns, workspace, key, bytes)
			SELECT ns, workspace, '', CAST(SUM(new_bytes) AS BIGINT) FROM checkpoint GROUP BY ns, workspace`,
	},
}

// versionTable holds the number of the newest migration.
const versionTable = "catalog_version"

// Migrate brings the tables of db up to date.
func Migrate(ctx context.Context, db *sql.DB) error {
	return migrate.Apply(ctx, db, Schema())
}

// Schema returns the migrations of the tables.
func Schema() migrate.Schema { return migrate.Schema{Table: versionTable, Steps: migrations} }

// Tables lists the tables of the migrations, without the version table.
func Tables() []migrate.Table {
	all := []migrate.Table{
		{Name: "checkpoint", History: true},
		{Name: "tombstone", History: true},
	}
	for _, name := range []string{"writer", "workspace", "pin", "outbox", "mark", "finding", "fact", "place", "verification", "reading", "tally", "brought"} {
		all = append(all, migrate.Table{Name: name})
	}
	for i := range all {
		all[i].Tenant = true
	}
	return all
}
