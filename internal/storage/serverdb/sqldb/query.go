package sqldb

// The texts. Placeholders first appear in rising order.
const (
	sqlAddNamespace = `INSERT INTO namespace (ns, created_us) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	sqlNamespaces   = `SELECT ns FROM namespace ORDER BY ns`
	sqlAddTerms     = `INSERT INTO terms (ns, body) VALUES ($1, $2)`
	sqlPutTerms     = `UPDATE terms SET body = $1 WHERE ns = $2`
	sqlTerms        = `SELECT body FROM terms WHERE ns = $1`
	sqlAddPassword  = `INSERT INTO password (ns, sealed) VALUES ($1, $2)`
	sqlPutPassword  = `UPDATE password SET sealed = $1 WHERE ns = $2 AND sealed = $3`
	sqlPassword     = `SELECT sealed FROM password WHERE ns = $1`

	sqlAddKey    = `INSERT INTO api_key (ns, id, used_us, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
	sqlAddDigest = `INSERT INTO key_digest (digest, ns, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	sqlDigest    = `SELECT ns, id FROM key_digest WHERE digest = $1`
	sqlKey       = `SELECT used_us, body FROM api_key WHERE ns = $1 AND id = $2`
	sqlKeys      = `SELECT used_us, body FROM api_key WHERE ns = $1 ORDER BY id`
	sqlPutKey    = `UPDATE api_key SET body = $1 WHERE ns = $2 AND id = $3`
	sqlUsedKey   = `UPDATE api_key SET used_us = CASE WHEN used_us < $1 THEN $1 ELSE used_us END WHERE ns = $2 AND id = $3`

	sqlEndSession  = `INSERT INTO ended_session (ns, id, until_us) VALUES ($1, $2, $3) ON CONFLICT (ns, id) DO NOTHING`
	sqlHasEnded    = `SELECT COUNT(*) FROM ended_session WHERE ns = $1 AND id = $2`
	sqlOldSessions = `DELETE FROM ended_session WHERE ns = $1 AND until_us < $2`

	sqlPutDue = `INSERT INTO due (queue, ns, id, at_us, lease_us, stamp) VALUES ($1, $2, $3, $4, 0, $5)
		ON CONFLICT (queue, ns, id) DO UPDATE SET
		at_us = CASE WHEN excluded.at_us < due.at_us THEN excluded.at_us ELSE due.at_us END,
		lease_us = 0, tries = 0, stamp = due.stamp + 1`
	sqlPutNewDue = `INSERT INTO due (queue, ns, id, at_us, lease_us, stamp) VALUES ($1, $2, $3, $4, 0, $5)
		ON CONFLICT (queue, ns, id) DO NOTHING`
	// sqlClaim picks rows first, with the lock of the database if it has one that skips those of others.
	sqlClaim = `WITH picked AS MATERIALIZED (SELECT queue, ns, id FROM due WHERE queue = $1 AND at_us <= $2 AND lease_us <= $2
		ORDER BY at_us, ns, id LIMIT $3 %s)
		UPDATE due SET lease_us = $4, stamp = stamp + 1 WHERE (queue, ns, id) IN (SELECT queue, ns, id FROM picked)
		RETURNING queue, ns, id, at_us, stamp, tries, reason`
	sqlNextDue  = `SELECT queue, MIN(CASE WHEN at_us > lease_us THEN at_us ELSE lease_us END) FROM due GROUP BY queue`
	sqlExtend   = `UPDATE due SET lease_us = $1 WHERE queue = $2 AND ns = $3 AND id = $4 AND stamp = $5`
	sqlFinish   = `DELETE FROM due WHERE queue = $1 AND ns = $2 AND id = $3 AND stamp = $4`
	sqlPostpone = `UPDATE due SET at_us = $1, lease_us = 0, tries = $2, reason = $3, stamp = stamp + 1
		WHERE queue = $4 AND ns = $5 AND id = $6 AND stamp = $7`
	sqlFailing = `SELECT queue, ns, id, at_us, stamp, tries, reason FROM due WHERE reason <> '' ORDER BY queue, ns, id`
	sqlDepth   = `SELECT COUNT(*), COALESCE(MIN(at_us), 0) FROM due WHERE queue = $1`

	sqlLease = `INSERT INTO lease (name, holder, until_us) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_us = excluded.until_us
		WHERE lease.holder = excluded.holder OR lease.until_us <= $4`

	sqlEventHead = `INSERT INTO event_head (ns, events, messages) VALUES ($1, 0, 0)
		ON CONFLICT (ns) DO UPDATE SET events = event_head.events RETURNING events, messages`
	sqlSetEventHead = `UPDATE event_head SET events = $1, messages = $2 WHERE ns = $3`
	sqlAddEvent     = `INSERT INTO event (ns, seq, id, body, data) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`
	sqlNewestEvent  = `SELECT body, data FROM event WHERE ns = $1 ORDER BY seq DESC LIMIT 1`
	sqlEvents       = `SELECT body, data FROM event WHERE ns = $1 AND seq > $2 ORDER BY seq LIMIT $3`

	sqlAddDelivery = `INSERT INTO delivery (ns, id, seq, hook, state, body, message) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`
	sqlDelivery    = `SELECT body, message FROM delivery WHERE ns = $1 AND id = $2`
	sqlDeliverySeq = `SELECT seq FROM delivery WHERE ns = $1 AND id = $2`
	sqlPutDelivery = `UPDATE delivery SET state = $1, body = $2 WHERE ns = $3 AND id = $4`
	sqlDeliveries  = `SELECT body FROM delivery WHERE ns = $1 AND seq < $2`
	sqlOfHook      = ` AND hook = `
	sqlOfState     = ` AND state = `
	sqlNewestFirst = ` ORDER BY seq DESC LIMIT `

	sqlLockAudit = `INSERT INTO audit_head (ns, seq, hash) VALUES ($1, 0, '')
		ON CONFLICT (ns) DO UPDATE SET seq = audit_head.seq RETURNING seq, hash`
	sqlSetAudit  = `UPDATE audit_head SET seq = $1, hash = $2 WHERE ns = $3`
	sqlAuditHead = `SELECT seq, hash FROM audit_head WHERE ns = $1`
	sqlAddAudit  = `INSERT INTO audit (ns, seq, body) VALUES ($1, $2, $3)`
	sqlAudit     = `SELECT seq, body FROM audit WHERE ns = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`
	sqlAuditUp   = `SELECT seq, body FROM audit WHERE ns = $1 AND seq > $2 ORDER BY seq LIMIT $3`
	sqlEntry     = `SELECT seq, body FROM audit WHERE ns = $1 AND seq = $2`
	sqlAddAnchor = `INSERT INTO anchor (ns, seq, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	sqlAnchors   = `SELECT body FROM anchor WHERE ns = $1 ORDER BY seq`

	sqlBeginReply = `INSERT INTO reply (ns, key, digest, stamp, until_us, done, status, type, body)
		VALUES ($1, $2, $3, $4, $5, FALSE, 0, '', $6)
		ON CONFLICT (ns, key) DO UPDATE SET digest = excluded.digest, stamp = excluded.stamp, until_us = excluded.until_us,
		done = FALSE, status = 0, type = '', body = excluded.body
		WHERE reply.until_us <= $7`
	sqlReply    = `SELECT digest, done, status, type, body FROM reply WHERE ns = $1 AND key = $2`
	sqlEndReply = `UPDATE reply SET done = TRUE, until_us = $1, status = $2, type = $3, body = $4
		WHERE ns = $5 AND key = $6 AND NOT done AND (stamp = $7 OR $7 = 0)`
	sqlDropReply    = `DELETE FROM reply WHERE ns = $1 AND key = $2 AND NOT done`
	sqlOldReplies   = `SELECT key FROM reply WHERE ns = $1 AND until_us <= $2 ORDER BY until_us LIMIT $3`
	sqlOtherReplies = `SELECT key, body FROM reply WHERE ns = $1 AND done AND key > $2 AND substr(body, 1, $3) <> $4 AND until_us > $5
		ORDER BY key LIMIT $6`
	sqlPutReplyBody = `UPDATE reply SET body = $1 WHERE ns = $2 AND key = $3 AND done AND body = $4`
	sqlSweepReply   = `DELETE FROM reply WHERE ns = $1 AND key = $2 AND until_us <= $3`
)

// jsonTable is a table of JSON values by id.
type jsonTable struct{ one, all, put, drop string }

func newJSONTable(table string) jsonTable {
	return jsonTable{
		one: `SELECT body FROM ` + table + ` WHERE ns = $1 AND id = $2`,
		all: `SELECT body FROM ` + table + ` WHERE ns = $1 ORDER BY id`,
		put: `INSERT INTO ` + table + ` (ns, id, body) VALUES ($1, $2, $3)
			ON CONFLICT (ns, id) DO UPDATE SET body = excluded.body`,
		drop: `DELETE FROM ` + table + ` WHERE ns = $1 AND id = $2`,
	}
}

var hooks, schedules, deletions = newJSONTable("hook"), newJSONTable("schedule"), newJSONTable("deletion")
