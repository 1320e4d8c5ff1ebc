package sqldb

import "github.com/retake-dev/retake/internal/storage/migrate"

// VersionTable holds the version of the tables. A user of the ledger must be able to read it.
const VersionTable = "ledger_version"

// Tables lists all tables but VersionTable. Those with a namespace column that are not marked
// as the tenant's are shared by all namespaces: they hold only ids, digests and times.
func Tables() []migrate.Table {
	return []migrate.Table{
		{Name: "namespace", Sealed: true},
		{Name: "terms", Tenant: true},
		{Name: "password", Tenant: true},
		{Name: "api_key", Tenant: true},
		{Name: "key_digest", Sealed: true},
		{Name: "ended_session", Tenant: true},
		{Name: "due"},
		{Name: "lease"},
		{Name: "hook", Tenant: true},
		{Name: "event_head", Tenant: true},
		{Name: "event", Tenant: true, Sealed: true},
		{Name: "delivery", Tenant: true},
		{Name: "schedule", Tenant: true},
		{Name: "deletion", Tenant: true},
		{Name: "audit_head", Tenant: true},
		{Name: "audit", Tenant: true, Sealed: true},
		{Name: "anchor", Tenant: true, Sealed: true},
		{Name: "reply", Tenant: true},
	}
}

// migrations are append-only: a released text never changes. A server of the release before works
// beside one of this release, so a step only adds, and what the older one writes without
// it must be right for the newer one. What nothing uses any more is taken away one release later,
// with the lowest version that works without it in migrate.Schema.MinReader.
var migrations = [][]string{
	{
		`CREATE TABLE namespace (
			ns TEXT NOT NULL, created_us BIGINT NOT NULL,
			PRIMARY KEY (ns))`,
		`CREATE TABLE terms (
			ns TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns))`,
		`CREATE TABLE password (
			ns TEXT NOT NULL, sealed BYTEA NOT NULL,
			PRIMARY KEY (ns))`,
		`CREATE TABLE api_key (
			ns TEXT NOT NULL, id TEXT NOT NULL, used_us BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE key_digest (
			digest BYTEA NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL,
			PRIMARY KEY (digest))`,
		`CREATE TABLE due (
			queue TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, at_us BIGINT NOT NULL, lease_us BIGINT NOT NULL,
			stamp BIGINT NOT NULL,
			PRIMARY KEY (queue, ns, id))`,
		`CREATE INDEX due_at ON due (queue, at_us, ns, id)`,
		`CREATE TABLE lease (
			name TEXT NOT NULL, holder TEXT NOT NULL, until_us BIGINT NOT NULL,
			PRIMARY KEY (name))`,
		`CREATE TABLE hook (
			ns TEXT NOT NULL, id TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE event_head (
			ns TEXT NOT NULL, events BIGINT NOT NULL, messages BIGINT NOT NULL,
			PRIMARY KEY (ns))`,
		`CREATE TABLE event (
			ns TEXT NOT NULL, seq BIGINT NOT NULL, id TEXT NOT NULL, body BYTEA NOT NULL, data BYTEA NOT NULL,
			PRIMARY KEY (ns, seq), UNIQUE (ns, id))`,
		`CREATE TABLE delivery (
			ns TEXT NOT NULL, id TEXT NOT NULL, seq BIGINT NOT NULL, hook TEXT NOT NULL, state TEXT NOT NULL,
			body BYTEA NOT NULL, message BYTEA NOT NULL,
			PRIMARY KEY (ns, id), UNIQUE (ns, seq))`,
		`CREATE INDEX delivery_hook ON delivery (ns, hook, seq)`,
		`CREATE INDEX delivery_state ON delivery (ns, state, seq)`,
		`CREATE TABLE schedule (
			ns TEXT NOT NULL, id TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE deletion (
			ns TEXT NOT NULL, id TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, id))`,
		`CREATE TABLE audit_head (
			ns TEXT NOT NULL, seq BIGINT NOT NULL, hash TEXT NOT NULL,
			PRIMARY KEY (ns))`,
		`CREATE TABLE audit (
			ns TEXT NOT NULL, seq BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, seq))`,
		`CREATE TABLE anchor (
			ns TEXT NOT NULL, seq BIGINT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, seq))`,
		`CREATE TABLE reply (
			ns TEXT NOT NULL, key BYTEA NOT NULL, digest BYTEA NOT NULL, stamp BIGINT NOT NULL, until_us BIGINT NOT NULL,
			done BOOLEAN NOT NULL, status BIGINT NOT NULL, type TEXT NOT NULL, body BYTEA NOT NULL,
			PRIMARY KEY (ns, key))`,
		`CREATE INDEX reply_until ON reply (ns, until_us)`,
	},
	{ // a server of the version before adds rows without them
		`ALTER TABLE due ADD COLUMN tries BIGINT NOT NULL DEFAULT 0`,
		`ALTER TABLE due ADD COLUMN reason TEXT NOT NULL DEFAULT ''`,
	},
	{ // a server of the version before takes their cookies until they expire
		`CREATE TABLE ended_session (
			ns TEXT NOT NULL, id TEXT NOT NULL, until_us BIGINT NOT NULL,
			PRIMARY KEY (ns, id))`,
	},
}
