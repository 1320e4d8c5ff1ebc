//go:build linux

package main

import (
	"fmt"
	"strings"
)

// The size that docs/internals/scale.md speaks of, and what is assumed beside what was measured.
const (
	workspaces  = 1e6
	perDay      = 100.0
	keptDays    = 30.0
	peak        = 3.0  // the busiest hour to the mean
	share       = 0.6  // of a core that is planned for
	perMachine  = 16.0 // cores
	cellRows    = 5e8  // checkpoints in one database, of which an index and its writes stay comfortable
	cellShare   = 0.5  // of the transactions that the bare database was seen to do
	secondsADay = 86400.0
)

// net is what one checkpoint costs above what the fleet does at rest.
func (l *loadResult) net(c cost, key string) float64 {
	return ratio(max(0, c.Second[key]-l.Rest.Second[key]), c.PerSecond)
}

// unitTable is what one checkpoint costs.
func unitTable(t *strings.Builder, l *loadResult) {
	t.WriteString("\n| one checkpoint costs, above what goes on at rest | edits and saves | with lists, reads, restores | at rest, in a second |\n|---|---|---|---|\n")
	for _, r := range []struct{ name, key, form string }{
		{"processor of servers, ms", "cpu_ms_servers", "%.1f"},
		{"processor of PostgreSQL, ms", "cpu_ms_postgres", "%.1f"},
		{"processor of S3, ms", "cpu_ms_s3", "%.1f"},
		{"transactions", "transactions", "%.1f"},
		{"statements", "statements", "%.1f"},
		{"growth of the database, bytes", "database_bytes", "%.0f"},
		{"write-ahead log, bytes", "wal_bytes", "%.0f"},
		{"bytes sent to S3", "s3_sent_bytes", "%.0f"},
		{"growth of the bucket, bytes", "s3_grown_bytes", "%.0f"},
		{"growth of the bucket, objects", "s3_grown_objects", "%.2f"},
	} {
		fmt.Fprintf(t, "| %s | "+r.form+" | "+r.form+" | "+r.form+" |\n", r.name, l.net(l.Saves, r.key), l.net(l.Mixed, r.key), l.Rest.Second[r.key])
	}
	for _, method := range []string{"PUT", "GET", "HEAD", "LIST", "POST", "DELETE"} {
		fmt.Fprintf(t, "| S3 %s | %.2f | %.2f | %.2f |\n", method, l.net(l.Saves, "s3_"+method), l.net(l.Mixed, "s3_"+method), l.Rest.Second["s3_"+method])
	}
}

// timeTable is how long requests take.
func timeTable(t *strings.Builder, r *result) {
	l := r.Load
	fmt.Fprintf(t, "\nSaves alone: %.1f checkpoints in a second, the machine %.0f %% busy. Mixed: %.1f, %.0f %%.\n", l.Saves.PerSecond, 100*l.Saves.Busy, l.Mixed.PerSecond, 100*l.Mixed.Busy)
	openTable(t, l.Open)
	if b := l.Bare; b != nil {
		fmt.Fprintf(t, "\n| bare | size, bytes | in a second | p50, ms | processor, ms | ours to bare |\n|---|---|---|---|---|---|\n")
		fmt.Fprintf(t, "| transaction with one row | %d | %.0f | %.1f | %.2f | processor %.1f |\n", b.Transactions.Size, b.Transactions.PerSec, b.Transactions.Times.P50, b.Transactions.CPU, l.Ratios["postgres_cpu_per_transaction"])
		fmt.Fprintf(t, "| PUT | %d | %.0f | %.1f | %.2f | processor %.1f |\n", b.Puts.Size, b.Puts.PerSec, b.Puts.Times.P50, b.Puts.CPU, l.Ratios["s3_cpu_per_put"])
		fmt.Fprintf(t, "| one of each | | | %.1f | | p50 of a save %.1f |\n", b.Transactions.Times.P50+b.Puts.Times.P50, l.Ratios["save_p50_to_one_of_each"])
	}
	if len(r.Timeline) == 0 {
		return
	}
	t.WriteString("\n| checkpoints in a timeline | list p50, ms | p99 | get p50, ms | p99 | database, bytes for each |\n|---|---|---|---|---|---|\n")
	for _, x := range r.Timeline {
		fmt.Fprintf(t, "| %d | %.1f | %.1f | %.1f | %.1f | %.0f |\n", x.Checkpoints, x.Times["list"].P50, x.Times["list"].P99, x.Times["get"].P50, x.Times["get"].P99, float64(x.Bytes)/float64(x.Checkpoints))
	}
	if first, last := r.Timeline[0], r.Timeline[len(r.Timeline)-1]; len(r.Timeline) > 1 {
		fmt.Fprintf(t, "| ratio | %.2f | %.2f | %.2f | %.2f | |\n", ratio(last.Times["list"].P50, first.Times["list"].P50), ratio(last.Times["list"].P99, first.Times["list"].P99),
			ratio(last.Times["get"].P50, first.Times["get"].P50), ratio(last.Times["get"].P99, first.Times["get"].P99))
	}
}

// scaleTable multiplies.
func scaleTable(t *strings.Builder, l *loadResult) {
	each := func(key string) float64 { return l.net(l.Saves, key) }
	day := workspaces * perDay
	mean := day / secondsADay
	top := mean * peak
	cores := func(key string) float64 { return top * each(key) / 1000 / share }
	cellRate := 0.0
	if l.Bare != nil && each("transactions") > 0 {
		cellRate = cellShare * l.Bare.Transactions.PerSec / each("transactions")
	}
	byRate := ratio(top, cellRate)
	byRows := day * keptDays / cellRows
	month := day * 30
	fmt.Fprintf(t, "\n| %.0f workspaces, %.0f checkpoints a day each | |\n|---|---|\n", workspaces, perDay)
	for _, r := range []struct {
		name string
		x    float64
		form string
	}{
		{"checkpoints in a second, mean", mean, "%.0f"},
		{"checkpoints in a second, busiest hour", top, "%.0f"},
		{"cores of servers", cores("cpu_ms_servers"), "%.0f"},
		{fmt.Sprintf("machines of %.0f cores for servers", perMachine), cores("cpu_ms_servers") / perMachine, "%.1f"},
		{"cores of PostgreSQL", cores("cpu_ms_postgres"), "%.0f"},
		{"checkpoints in a second that one database of this machine's kind bears", cellRate, "%.0f"},
		{"cells by rate", byRate, "%.1f"},
		{"cells by rows", byRows, "%.1f"},
		{"PostgreSQL, TB", day * keptDays * each("database_bytes") / 1e12, "%.1f"},
		{"write-ahead log a day, TB", day * each("wal_bytes") / 1e12, "%.2f"},
		{"S3 objects, millions", day * keptDays * each("s3_grown_objects") / 1e6, "%.0f"},
		{"S3, TB", day * keptDays * each("s3_grown_bytes") / 1e12, "%.1f"},
		{"S3 PUT in a month, millions", month * each("s3_PUT") / 1e6, "%.0f"},
		{"S3 GET and HEAD in a month, millions", month * (each("s3_GET") + each("s3_HEAD")) / 1e6, "%.0f"},
		{"S3 LIST in a month, millions", month * each("s3_LIST") / 1e6, "%.0f"},
		{"bytes to S3 in a month, TB", month * each("s3_sent_bytes") / 1e12, "%.1f"},
	} {
		fmt.Fprintf(t, "| %s | "+r.form+" |\n", r.name, r.x)
	}
}
