package daemon

// OpenLog opens a log, for its tests.
func OpenLog(path string) (interface {
	Write([]byte) (int, error)
	Close() error
}, error) {
	return openLog(path)
}

// MaxLog is the length at which a log is put aside.
const MaxLog = maxLog
