package migrate

// Table describes a table to databases that can restrict access to tables. Rows of a table
// that is neither history nor sealed may be changed by everybody.
type Table struct {
	Name    string
	Tenant  bool // its column ns says whose a row is, and nobody else sees it
	History bool // rows are never changed, and only maintenance deletes them
	Sealed  bool // rows are never changed and never deleted
}
