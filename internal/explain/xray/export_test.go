package xray

import (
	"bytes"
	"time"
)

// TestKey is the key of tests.
var TestKey = []byte("the key of tests")

// ReadBytes runs one reader in this process.
func ReadBytes(reader string, data, log []byte) Reading {
	return runReader(reader, input{data: data, log: log, key: TestKey})
}

// SetTimes bounds one file, all of them, and the rest of a child.
func (p *Pool) SetTimes(each, all, idle time.Duration) {
	p.fileTimeout, p.batchTimeout, p.idleTimeout = each, all, idle
}

// Names are the readers of bytes.
func Names() []string {
	var names []string
	for _, r := range allReaders() {
		if r.read != nil {
			names = append(names, r.name)
		}
	}
	return names
}

// Shown is what people see of a value.
func Shown(v string) string { return shownValue(v) }

// MaxMemory is what a child may hold.
const MaxMemory = maxMemory

// CompareBytes compares two databases in this process; nil: there is none.
func CompareBytes(before, after []byte, a RowsRequest) RowsResult {
	var dbs [2]*database
	head := rowsHeader{Table: a.Table, What: a.What, Skip: a.Skip, Limit: a.Limit}
	for side, data := range [][]byte{before, after} {
		if data == nil {
			continue
		}
		db, err := openSQLite(bytes.Clone(data), nil)
		if err != nil {
			return RowsResult{Why: err.Error()}
		}
		defer db.close()
		dbs[side] = db
	}
	return *compareDatabases(dbs, head, input{key: TestKey})
}
