package xray_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// BenchmarkAnInstall reads what an install of 1,200 packages brings, the start of a child
// included.
func BenchmarkAnInstall(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var asks []xray.Request
	for i := range 1200 {
		asks = append(asks, ask("npm-installed@1", fmt.Sprintf(`{"name":"p%d","version":"1.0.%d","description":%q}`, i, i, make([]byte, 300))))
	}
	for b.Loop() {
		p := xray.NewPool(func(ctx context.Context) (xray.Child, error) { return proc.StartPiped(ctx, exe, "child", "good") })
		if _, err := p.Read(b.Context(), asks); err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}

func BenchmarkReaders(b *testing.B) {
	e := file(1000)
	for b.Loop() {
		xray.ReadersFor("src/server/routes/login.ts", e)
		xray.ReadersFor("node_modules/@babel/core/lib/index.js", e)
	}
}

// BenchmarkRows compares two tables of 100,000 rows and ten columns of which every tenth differs.
func BenchmarkRows(b *testing.B) {
	side := func(rest string) []byte {
		return data(b, "PRAGMA synchronous=OFF", "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h, i)",
			"INSERT INTO t "+ladder(100_000)+"SELECT x, 'text '||x, x*2, x*1.5, NULL, 'more '||x, x, x, x, x%10="+rest+" FROM c")
	}
	before, after := side("0"), side("1")
	for b.Loop() {
		if got := xray.CompareBytes(before, after, xray.RowsRequest{Table: "t", Limit: 100}).Tables[0]; got.Why != "" {
			b.Fatal(got.Why)
		}
	}
}
