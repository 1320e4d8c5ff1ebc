package sqlcat

// Queries are the texts that must stay quick on a long timeline, by method.
var Queries = map[string]string{
	"Checkpoint": sqlCheckpoint,
	"ByNumber":   sqlByNumber,
	"ByPrefix":   sqlByPrefix,
	"Before":     sqlBefore,
	"Latest":     sqlLatest,
	"Start":      sqlStart,
	"Page":       sqlPage,
	"Page since": sqlPageSince,
	"Tombstones": sqlTombstones,
	"Counts":     sqlCounts,
	"Workspaces": sqlWorkspaces,
	"Pins":       sqlPins,
	"Pending":    sqlPending,
	"lives":      sqlLives,
	"buried":     sqlBuried,
	"holder":     sqlHolder,
}

// Migrations are the texts of all versions.
var Migrations = migrations
