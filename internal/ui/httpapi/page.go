package httpapi

import (
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// Cursors seal the position at which a list continues, bound to the filter of the list. Open
// returns an Invalid error for a cursor that was not sealed for the filter.
type Cursors interface {
	Seal(filter, at string) string
	Open(filter, cursor string) (at string, err error)
}

const (
	defaultLimit = 50
	maxLimit     = wire.MaxPage
)

// pageQuery selects a page of a list.
type pageQuery struct {
	Limit  int    `query:"limit" doc:"The largest number of results, up to 1000. Absent means 50."`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
}

func (q *pageQuery) pageLimit() int {
	if q.Limit <= 0 {
		return defaultLimit
	}
	return min(q.Limit, maxLimit)
}

// page is one page of a list.
type page[T any] = wire.Page[T]

// PageParams select a page of a list that is given whole if nobody asks for a page. It is exported
// because huma ignores unexported embedded structs.
type PageParams struct {
	Limit  int    `query:"limit" minimum:"0" doc:"The largest number of results. Absent or 0 means all."`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
}

// fetchPage returns one page of a list. fetch returns the first n elements, or all if n is 0. The
// cursor has the ID of the page's last element, because new elements may come in front of it, and
// its position in case the element is gone.
func fetchPage[T any](a *api, filter string, q PageParams, fetch func(n int) ([]T, error), id func(*T) string) ([]T, wire.More, error) {
	after, err := a.cursorText(filter, q.Cursor, "")
	if err != nil {
		return nil, wire.More{}, err
	}
	size := min(q.Limit, 1<<30) // a sum with it is a number
	if q.Cursor != "" && size == 0 {
		size = defaultLimit
	}
	if size == 0 {
		all, err := fetch(0)
		return nonNil(all), wire.More{}, err
	}
	all, from, err := fetchAfter(after, size+1, fetch, id)
	if err != nil {
		return nil, wire.More{}, err
	}
	end := min(from+size, len(all))
	if end == len(all) {
		return nonNil(all[from:]), wire.More{}, nil
	}
	return all[from:end], wire.More{NextCursor: a.cursors.Seal(filter, positionOf(end-1, id(&all[end-1])))}, nil
}

// fetchAfter fetches until n elements follow a position, or the list ends. It returns the index of
// the first of them.
func fetchAfter[T any](after string, n int, fetch func(n int) ([]T, error), id func(*T) string) ([]T, int, error) {
	if after == "" {
		all, err := fetch(n)
		return all, 0, err
	}
	place, _, _ := strings.Cut(after, " ")
	want := n
	if at, err := strconv.Atoi(place); err == nil && at >= 0 {
		want += at + 1
	}
	for {
		all, err := fetch(want)
		if err != nil {
			return nil, 0, err
		}
		from, found := indexAfter(after, all, id)
		if len(all) < want || found && len(all)-from >= n {
			return all, from, nil
		}
		want = max(from+n, 2*want) // more came in front than that
	}
}

// positionOf is the position of a list after an element.
func positionOf(at int, id string) string { return strconv.Itoa(at) + " " + id }

// pageFromList returns one page of a complete list. The cursor has the ID of the page's last
// element, and its position in case the element is deleted meanwhile.
func pageFromList[T any](a *api, filter string, q *pageQuery, all []T, err error, id func(*T) string) (page[T], error) {
	if err != nil {
		return page[T]{}, err
	}
	from := 0
	if q.Cursor != "" {
		at, err := a.cursors.Open(filter, q.Cursor)
		if err != nil {
			return page[T]{}, err
		}
		from, _ = indexAfter(at, all, id)
	}
	end := min(from+q.pageLimit(), len(all))
	out := page[T]{Data: nonNil(all[from:end])}
	if end < len(all) {
		out.NextCursor = a.cursors.Seal(filter, positionOf(end-1, id(&all[end-1])))
	}
	return out, nil
}

// indexAfter returns the index at which a list continues after a position, and whether the element
// of the position is in the list.
func indexAfter[T any](at string, all []T, id func(*T) string) (int, bool) {
	text, last, _ := strings.Cut(at, " ")
	place, err := strconv.Atoi(text)
	if err != nil || place < 0 {
		place = 0
	}
	place = min(place, len(all))
	for i := place; i < len(all); i++ { // it is where it was, or others came in front
		if id(&all[i]) == last {
			return i + 1, true
		}
	}
	for i := place - 1; i >= 0; i-- { // others in front are gone
		if id(&all[i]) == last {
			return i + 1, true
		}
	}
	return place, false
}

// cursorText returns the position in a cursor, or asked if there is no cursor.
func (a *api) cursorText(filter, cursor, asked string) (string, error) {
	if cursor == "" {
		return asked, nil
	}
	return a.cursors.Open(filter, cursor)
}

// cursorNumber is cursorText for numbers.
func (a *api) cursorNumber(filter, cursor string, asked int64) (int64, error) {
	if cursor == "" {
		return asked, nil
	}
	at, err := a.cursors.Open(filter, cursor)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return 0, &retake.Error{Kind: retake.Invalid, What: "the cursor is of another list", Safe: unchanged, Err: err}
	}
	return n, nil
}

// pageFromFetched returns a page of a list that was fetched with one element more than the
// limit. That element tells whether there is another page.
func pageFromFetched[T any](a *api, filter string, limit int, got []T, at func(*T) string) page[T] {
	out := page[T]{Data: nonNil(got)}
	if len(got) > limit {
		out.Data = got[:limit]
		out.NextCursor = a.cursors.Seal(filter, at(&got[limit-1]))
	}
	return out
}
