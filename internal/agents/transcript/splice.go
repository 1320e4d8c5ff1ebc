package transcript

import (
	"bytes"
	"encoding/json"
)

// replaceString replaces the string at a path of keys and leaves every other byte as it is.
// A record without such a string is returned unchanged.
func replaceString(record []byte, to string, keys ...string) []byte {
	from, end, ok := findValue(record, keys)
	if !ok || record[from] != '"' {
		return record
	}
	value, err := json.Marshal(to)
	if err != nil {
		return record // a text can always be written
	}
	out := make([]byte, 0, len(record)+len(value))
	out = append(out, record[:from]...)
	out = append(out, value...)
	return append(out, record[end:]...)
}

// findValue returns the byte range of the value at a path of keys.
func findValue(record []byte, keys []string) (from, end int, ok bool) {
	d := json.NewDecoder(bytes.NewReader(record))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 0, 0, false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, 0, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return 0, 0, false
		}
		if key != keys[0] {
			continue
		}
		end = int(d.InputOffset())
		from = end - len(value)
		if len(keys) == 1 {
			return from, end, true
		}
		in, out, ok := findValue(value, keys[1:])
		return from + in, from + out, ok
	}
	return 0, 0, false
}
