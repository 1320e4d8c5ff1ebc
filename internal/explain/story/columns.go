package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/pure/pattern"
)

// columnSizes are what stands behind a type: DECIMAL(10,2).
var columnSizes = pattern.Lazy(`\([^()]*\)`)

// columnShape is a name and a type that databases have: note TEXT.
var columnShape = pattern.Lazy(`(?i)^[\pL_][\pL\d_]*( (unsigned |double |native |varying |big )*(int|integer|tinyint|smallint|mediumint|bigint|int2|int8|text|clob|char|character|varchar|nchar|nvarchar|blob|real|double|float|precision|numeric|decimal|boolean|bool|date|datetime|time|timestamp|json|jsonb|uuid|any)( (int|precision|varying|unsigned))?)?$`)

// lostColumns compares two lists of columns by their names. A column at the same place and
// of the same type that only has another name is not lost. Where a list is cut, or has a
// column that cannot be told from its type, nothing is said.
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

// parseColumns reads a list: all of them have a type, or none.
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
