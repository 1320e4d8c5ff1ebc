package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// columnSizes matches what follows a type: the (10,2) of DECIMAL(10,2).
var columnSizes = pattern.Lazy(`\([^()]*\)`)

// columnShape matches a column name with an optional type that databases have: note TEXT.
var columnShape = pattern.Lazy(`(?i)^[\pL_][\pL\d_]*( (unsigned |double |native |varying |big )*(int|integer|tinyint|smallint|mediumint|bigint|int2|int8|text|clob|char|character|varchar|nchar|nvarchar|blob|real|double|float|precision|numeric|decimal|boolean|bool|date|datetime|time|timestamp|json|jsonb|uuid|any)( (int|precision|varying|unsigned))?)?$`)

// lostColumns compares two column lists by name and returns the columns that were lost. A
// column at the same position and of the same type that only has another name was renamed.
// If a list is cut, or a column cannot be told from its type, it returns nil.
func lostColumns(before, after string) []string {
	was, ok := parseColumns(before)
	is, sure := parseColumns(after)
	if !ok || !sure {
		return nil
	}
	var lost []string
	for i, c := range was {
		renamed := len(was) == len(is) && !hasColumn(was, is[i].name) && is[i].typeName == c.typeName
		if !hasColumn(is, c.name) && !renamed {
			lost = append(lost, c.name)
		}
	}
	return lost
}

type column struct{ name, typeName string }

func hasColumn(list []column, name string) bool {
	return slices.ContainsFunc(list, func(c column) bool { return strings.EqualFold(c.name, name) })
}

// parseColumns parses a column list. It reports false unless all columns have a type, or
// none has.
func parseColumns(list string) (out []column, ok bool) {
	typed := 0
	for _, c := range strings.Split(columnSizes().ReplaceAllString(list, ""), ", ") {
		if !columnShape().MatchString(c) {
			return nil, false
		}
		name, kind, has := strings.Cut(c, " ")
		if has {
			typed++
		}
		out = append(out, column{name, strings.ToLower(kind)})
	}
	return out, typed == 0 || typed == len(out)
}
