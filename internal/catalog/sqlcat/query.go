package sqlcat

// The texts. Placeholders first appear in rising order.
const (
	sqlLock = `INSERT INTO writer (ns, notices) VALUES ($1, 0) ON CONFLICT (ns) DO UPDATE SET notices = writer.notices`

	sqlPutWorkspace = `INSERT INTO workspace (ns, id, name, root, body) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (ns, id) DO UPDATE SET name = excluded.name, root = excluded.root, body = excluded.body`
	sqlWorkspace  = `SELECT root, body FROM workspace WHERE ns = $1 AND id = $2`
	sqlWorkspaces = `SELECT w.root, w.body,
		(SELECT c.body FROM checkpoint c WHERE c.ns = w.ns AND c.workspace = w.id ORDER BY c.number DESC LIMIT 1),
		(SELECT COUNT(*) FROM checkpoint c WHERE c.ns = w.ns AND c.workspace = w.id)
		FROM workspace w WHERE w.ns = $1`

	sqlAppend = `INSERT INTO checkpoint (ns, id, workspace, number, parent, time_us, trigger, intent, tree, content,
		grade, files, dirs, bytes, new_bytes, added, deleted, edited, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`
	sqlRemove = `DELETE FROM checkpoint WHERE ns = $1 AND id = $2`
	sqlBury   = `INSERT INTO tombstone (ns, id, workspace, number, body) VALUES ($1, $2, $3, $4, $5)`
	sqlLives  = `SELECT COUNT(*) FROM checkpoint WHERE ns = $1 AND id = $2`
	sqlBuried = `SELECT COUNT(*) FROM tombstone WHERE ns = $1 AND id = $2`
	// sqlHolder answers at most one row: a number is given once.
	sqlHolder = `SELECT id FROM checkpoint WHERE ns = $1 AND workspace = $2 AND number = $3
		UNION ALL SELECT id FROM tombstone WHERE ns = $1 AND workspace = $2 AND number = $3`

	sqlCheckpoint = `SELECT body FROM checkpoint WHERE ns = $1 AND id = $2`
	sqlByNumber   = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND number = $3`
	// In sqlByPrefix the pairs keep the query on the index by workspace and id: by
	// id alone it would walk past the ids of all other workspaces.
	sqlByPrefix = `SELECT body FROM checkpoint WHERE ns = $1 AND (workspace, id) >= ($2, $3) AND (workspace, id) < ($2, $4)
		ORDER BY workspace, id LIMIT 2`
	sqlBefore = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND time_us <= $3
		ORDER BY time_us DESC, number DESC LIMIT 1`
	sqlLatest = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 ORDER BY number DESC LIMIT 1 OFFSET $3`
	sqlStart  = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND grade = $3 ORDER BY number LIMIT 1`
	sqlPage   = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND number <= $3 ORDER BY number DESC LIMIT $4`
	// In sqlPageSince "number + 0" keeps the inner query on the index by time:
	// by number it would walk past everything older when few are new enough.
	sqlPageSince = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND number IN (
		SELECT number FROM checkpoint WHERE ns = $1 AND workspace = $2 AND time_us >= $3 AND number + 0 <= $4
		ORDER BY number + 0 DESC LIMIT $5) ORDER BY number DESC`
	sqlTombstones = `SELECT body FROM tombstone WHERE ns = $1 AND workspace = $2 ORDER BY number`
	sqlCounts     = `SELECT
		(SELECT COUNT(*) FROM checkpoint WHERE ns = $1 AND workspace = $2),
		(SELECT COALESCE(MAX(number), 0) FROM checkpoint WHERE ns = $1 AND workspace = $2),
		(SELECT COALESCE(MAX(number), 0) FROM tombstone WHERE ns = $1 AND workspace = $2)`

	sqlUnpin = `DELETE FROM pin WHERE ns = $1 AND workspace = $2`
	sqlPin   = `INSERT INTO pin (ns, workspace, name, checkpoint, body) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`
	sqlPins  = `SELECT body FROM pin WHERE ns = $1 AND workspace = $2 ORDER BY name`

	sqlNextNotice = `UPDATE writer SET notices = notices + 1 WHERE ns = $1 RETURNING notices`
	sqlNotice     = `INSERT INTO outbox (ns, id, topic, workspace, checkpoint, time_us) VALUES ($1, $2, $3, $4, $5, $6)`
	sqlPending    = `SELECT id, topic, workspace, checkpoint, time_us FROM outbox WHERE ns = $1 ORDER BY id LIMIT $2`
	sqlTake       = `DELETE FROM outbox WHERE ns = $1 AND id = $2`

	sqlSetMark = `INSERT INTO mark (ns, key, value) VALUES ($1, $2, $3) ON CONFLICT (ns, key) DO UPDATE SET value = excluded.value`
	sqlMark    = `SELECT value FROM mark WHERE ns = $1 AND key = $2`
)

// sqlReset leaves the writer row: a reader that took notices before a reset must
// not take others of the same number after it.
var sqlReset = []string{
	`DELETE FROM workspace WHERE ns = $1`,
	`DELETE FROM checkpoint WHERE ns = $1`,
	`DELETE FROM tombstone WHERE ns = $1`,
	`DELETE FROM pin WHERE ns = $1`,
	`DELETE FROM outbox WHERE ns = $1`,
	`DELETE FROM mark WHERE ns = $1`,
}
