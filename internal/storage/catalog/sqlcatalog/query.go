package sqlcatalog

// The texts. Placeholders first appear in rising order.
const (
	sqlLock = `INSERT INTO writer (ns, notices) VALUES ($1, 0) ON CONFLICT (ns) DO UPDATE SET notices = writer.notices`

	sqlPutWorkspace = `INSERT INTO workspace (ns, id, name, root, body) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (ns, id) DO UPDATE SET name = excluded.name, root = excluded.root, body = excluded.body`
	sqlWorkspace  = `SELECT root, body FROM workspace WHERE ns = $1 AND id = $2`
	sqlWorkspaces = `SELECT w.root, w.body,
		(SELECT c.body FROM checkpoint c WHERE c.ns = w.ns AND c.workspace = w.id ORDER BY c.number DESC LIMIT 1),
		COALESCE((SELECT t.live FROM tally t WHERE t.ns = w.ns AND t.workspace = w.id), 0)
		FROM workspace w WHERE w.ns = $1`

	sqlAppend = `INSERT INTO checkpoint (ns, id, workspace, number, parent, time_us, trigger, intent, tree, content,
		grade, files, dirs, bytes, new_bytes, added, deleted, edited, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`
	sqlIncrementTally = `INSERT INTO tally (ns, workspace, live) VALUES ($1, $2, 1)
		ON CONFLICT (ns, workspace) DO UPDATE SET live = tally.live + 1`
	sqlDecrementTally = `UPDATE tally SET live = live - $3 WHERE ns = $1 AND workspace = $2`
	sqlAddBrought     = `INSERT INTO brought (ns, workspace, key, bytes) VALUES ($1, $2, $3, $4)
		ON CONFLICT (ns, workspace, key) DO UPDATE SET bytes = brought.bytes + excluded.bytes`
	sqlBrought = `SELECT workspace, key, bytes FROM brought WHERE ns = $1 AND bytes <> 0 ORDER BY workspace, key`
	sqlRemove  = `DELETE FROM checkpoint WHERE ns = $1 AND id = $2`
	sqlBury    = `INSERT INTO tombstone (ns, id, workspace, number, body) VALUES ($1, $2, $3, $4, $5)`
	// sqlKnown returns how many rows have an id, and who has or had a number.
	sqlKnown = `SELECT (SELECT COUNT(*) FROM checkpoint WHERE ns = $1 AND id = $2) + (SELECT COUNT(*) FROM tombstone WHERE ns = $1 AND id = $2),
		COALESCE((SELECT id FROM checkpoint WHERE ns = $1 AND workspace = $3 AND number = $4),
			(SELECT id FROM tombstone WHERE ns = $1 AND workspace = $3 AND number = $4), '')`
	sqlBuried = `SELECT COUNT(*) FROM tombstone WHERE ns = $1 AND id = $2`
	// sqlNumberHolder returns at most one row: a number is given once.
	sqlNumberHolder = `SELECT id FROM checkpoint WHERE ns = $1 AND workspace = $2 AND number = $3
		UNION ALL SELECT id FROM tombstone WHERE ns = $1 AND workspace = $2 AND number = $3`

	sqlCheckpoint = `SELECT body FROM checkpoint WHERE ns = $1 AND id = $2`
	sqlByNumber   = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND number = $3`
	// In sqlByPrefix the inner query needs nothing but the index by workspace and id: by
	// id alone it would walk past the ids of all other workspaces.
	sqlByPrefix = `SELECT body FROM checkpoint WHERE ns = $1 AND id IN (
		SELECT id FROM checkpoint WHERE ns = $1 AND workspace = $2 AND id >= $3 AND id < $4 ORDER BY id LIMIT 2) ORDER BY id`
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
	sqlWithContent = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND content = $3 ORDER BY number DESC`
	sqlTombstones  = `SELECT body FROM tombstone WHERE ns = $1 AND workspace = $2 ORDER BY number`
	sqlCounts      = `SELECT
		COALESCE((SELECT live FROM tally WHERE ns = $1 AND workspace = $2), 0),
		(SELECT COALESCE(MAX(number), 0) FROM checkpoint WHERE ns = $1 AND workspace = $2),
		(SELECT COALESCE(MAX(number), 0) FROM tombstone WHERE ns = $1 AND workspace = $2)`

	sqlUnpin = `DELETE FROM pin WHERE ns = $1 AND workspace = $2`
	sqlPin   = `INSERT INTO pin (ns, workspace, name, checkpoint, body) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`
	sqlPins  = `SELECT body FROM pin WHERE ns = $1 AND workspace = $2 ORDER BY name`

	sqlNextNotice = `UPDATE writer SET notices = notices + 1 WHERE ns = $1 RETURNING notices`
	sqlNotice     = `INSERT INTO outbox (ns, id, topic, workspace, checkpoint, time_us) VALUES ($1, $2, $3, $4, $5, $6)`
	sqlPending    = `SELECT id, topic, workspace, checkpoint, time_us FROM outbox WHERE ns = $1 ORDER BY id LIMIT $2`
	sqlTake       = `DELETE FROM outbox WHERE ns = $1 AND id = $2`

	// sqlNumber returns the number of a checkpoint, and whether something is known about it.
	sqlNumber = `SELECT number, (SELECT COUNT(*) FROM finding WHERE ns = $1 AND checkpoint = $2) FROM checkpoint
		WHERE ns = $1 AND id = $2 AND workspace = $3`
	sqlPutFinding = `INSERT INTO finding (ns, checkpoint, workspace, number, v, head, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	sqlPutPlace   = `INSERT INTO place (ns, checkpoint, workspace, number, folded, body) VALUES ($1, $2, $3, $4, $5, $6)`
	sqlPutFact    = `INSERT INTO fact (ns, checkpoint, seq, workspace, number, kind, name, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	// In sqlGists there is no workspace: it would draw the query to an index that
	// reads all of it.
	sqlGists = `SELECT checkpoint, workspace, body FROM finding WHERE ns = $1`
	// In sqlBare the count keeps the inner query one by one: joined, all findings would
	// be read before the first row.
	sqlBare = `SELECT c.body FROM checkpoint c WHERE c.ns = $1 AND c.workspace = $2 AND 0 = (
		SELECT COUNT(*) FROM finding f WHERE f.ns = c.ns AND f.workspace = c.workspace AND f.number = c.number AND f.v >= $3)
		ORDER BY c.number DESC LIMIT $4`
	sqlByHead = `SELECT body FROM checkpoint WHERE ns = $1 AND workspace = $2 AND number = (
		SELECT MIN(number) FROM finding WHERE ns = $1 AND workspace = $2 AND head >= $3 AND head < $4)`
	sqlMentions = `SELECT f.body, (SELECT c.body FROM checkpoint c WHERE c.ns = f.ns AND c.id = f.checkpoint)
		FROM fact f WHERE f.ns = $1 AND f.workspace = $2 AND f.name = $3`
	sqlMentionsOrder = ` ORDER BY f.number DESC, f.seq`
	sqlSearch        = `SELECT p.folded, p.body, (SELECT c.body FROM checkpoint c WHERE c.ns = p.ns AND c.id = p.checkpoint)
		FROM place p WHERE p.ns = $1 AND p.workspace = $2`
	sqlSearchOrder = ` ORDER BY p.number DESC LIMIT `

	sqlPutVerification = `INSERT INTO verification (ns, id, workspace, checkpoint, number, content, name, command, started_us, body, output)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (ns, id) DO UPDATE SET workspace = excluded.workspace, checkpoint = excluded.checkpoint,
		number = excluded.number, content = excluded.content, name = excluded.name, command = excluded.command,
		started_us = excluded.started_us, body = excluded.body, output = excluded.output`
	sqlAnswered           = `SELECT COUNT(*) FROM verification WHERE ns = $1 AND id = $2 AND body = $3 AND output = $4`
	sqlVerifications      = `SELECT v.body FROM verification v`
	sqlVerificationsFull  = `SELECT v.body, v.output FROM verification v`
	sqlVerificationsWhere = ` WHERE v.ns = $1 AND v.workspace = $2
		AND EXISTS (SELECT 1 FROM checkpoint c WHERE c.ns = v.ns AND c.id = v.checkpoint)`
	sqlVerificationsOrder = ` ORDER BY v.started_us DESC, v.id DESC LIMIT `
	// In sqlVerificationsSort "started_us + 0" keeps a query for contents on their
	// index: by time it would walk past the answers about all others.
	sqlVerificationsSort = ` ORDER BY v.started_us + 0 DESC, v.id DESC LIMIT `

	sqlReadings    = `SELECT object, body FROM reading WHERE ns = $1 AND reader = $2`
	sqlLastReading = `SELECT COALESCE(MAX(seq), 0) FROM reading WHERE ns = $1`
	sqlPutReading  = `INSERT INTO reading (ns, reader, object, seq, body) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (ns, reader, object) DO UPDATE SET seq = excluded.seq, body = excluded.body`
	sqlTrimReadings = `DELETE FROM reading WHERE ns = $1 AND seq <= (
		SELECT seq FROM reading WHERE ns = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)`

	sqlSetMark = `INSERT INTO mark (ns, key, value) VALUES ($1, $2, $3) ON CONFLICT (ns, key) DO UPDATE SET value = excluded.value`
	sqlMark    = `SELECT value FROM mark WHERE ns = $1 AND key = $2`
)

// sqlDropNotes are run when the notes of a checkpoint are replaced.
var sqlDropNotes = []string{
	`DELETE FROM finding WHERE ns = $1 AND checkpoint = $2`,
	`DELETE FROM place WHERE ns = $1 AND checkpoint = $2`,
	`DELETE FROM fact WHERE ns = $1 AND checkpoint = $2`,
}

// sqlDropAnswers is run in addition when a checkpoint is buried.
const sqlDropAnswers = `DELETE FROM verification WHERE ns = $1 AND checkpoint = $2`

// sqlReset keeps the writer row: after a reset, notices must not reuse numbers that a reader
// has taken before.
var sqlReset = []string{
	`DELETE FROM workspace WHERE ns = $1`,
	`DELETE FROM checkpoint WHERE ns = $1`,
	`DELETE FROM tally WHERE ns = $1`,
	`DELETE FROM brought WHERE ns = $1`,
	`DELETE FROM tombstone WHERE ns = $1`,
	`DELETE FROM pin WHERE ns = $1`,
	`DELETE FROM outbox WHERE ns = $1`,
	`DELETE FROM mark WHERE ns = $1`,
	`DELETE FROM finding WHERE ns = $1`,
	`DELETE FROM place WHERE ns = $1`,
	`DELETE FROM fact WHERE ns = $1`,
	`DELETE FROM verification WHERE ns = $1`,
	`DELETE FROM reading WHERE ns = $1`,
}
