package demo

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// shopText holds the files of the shop. The first part of a name is the step that writes it.
//
//go:embed shop.txt
var shopText string

// stepFiles are the texts of one step, by their path.
func stepFiles(step string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq("\n"+shopText, "\n-- ") {
		name, text, ok := strings.Cut(part, " --\n")
		if path, mine := strings.CutPrefix(name, step+"/"); ok && mine {
			out[path] = strings.TrimSuffix(text, "\n") + "\n"
		}
	}
	return out
}

// writeStep writes the files of a step over those of a tree.
func writeStep(tree, step string) error {
	all := stepFiles(step)
	if len(all) == 0 {
		return fmt.Errorf("write files: there is no step %s", step)
	}
	for path, text := range all {
		if err := writeIfChanged(filepath.Join(tree, filepath.FromSlash(path)), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// writeIfChanged writes a file unless it already holds these bytes, so that its time is kept.
func writeIfChanged(file string, data []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

// appendToFile adds text to the end of a file.
func appendToFile(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open file: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

// removeKeyLine takes the line with a key out of a file.
func removeKeyLine(file, key string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, key+"=") {
			kept.WriteString(line)
		}
	}
	return writeIfChanged(file, []byte(kept.String()))
}

// The goods of the shop.
var (
	shapes = []string{"mug", "plate", "tea-bowl", "soup-bowl", "jug", "vase"}
	glazes = []string{"white", "sand", "moss", "ink"}
)

// writeProducts writes the price list, and a photo of each product.
func writeProducts(tree string) error {
	var list strings.Builder
	for i, shape := range shapes {
		for k, glaze := range glazes {
			sku := shape + "-" + glaze
			fmt.Fprintf(&list, "%s,%s %s,%.2f\n", sku, glaze, strings.ReplaceAll(shape, "-", " "), 9.5+float64(6*i+k))
			if err := writePhoto(tree, sku); err != nil {
				return err
			}
		}
	}
	return writeIfChanged(filepath.Join(tree, "data", "prices.csv"), []byte(list.String()))
}

func writePhoto(tree, sku string) error {
	return writePicture(filepath.Join(tree, "public", "photos", sku+".png"), 48, hashText(sku))
}

// hashText returns a number derived from a text, so that every demo draws the same pictures.
func hashText(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return h.Sum64()
}

// writePicture draws a disc on a ground, in colors made of a number.
func writePicture(file string, side int, seed uint64) error {
	shade := func(shift int) uint8 { return uint8(seed >> shift) }
	ink := color.RGBA{shade(0), shade(8), shade(16), 255}
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	r := side * 2 / 5
	for y := range side {
		for x := range side {
			dx, dy := x-side/2, y-side/2
			if dx*dx+dy*dy < r*r {
				img.SetRGBA(x, y, ink)
			} else {
				img.SetRGBA(x, y, color.RGBA{244, 241, uint8(220 + (x+y)%24), 255})
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// writeFont writes bytes that are no text.
func writeFont(tree, name string, size int) error {
	r := rand.New(rand.NewPCG(hashText(name), 1))
	b := []byte("wOF2\x00\x01\x00\x00")
	for len(b) < size {
		b = binary.BigEndian.AppendUint64(b, r.Uint64())
	}
	return writeIfChanged(filepath.Join(tree, "public", "fonts", name), b)
}

// writeBuild does what a bundler would.
func writeBuild(tree string) error {
	for i := range 12 {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		name := fmt.Sprintf("chunk-%08x.js", r.Uint32())
		text := fmt.Sprintf("export const part = %d\n", i) + strings.Repeat(fmt.Sprintf("register(%d)\n", r.Uint32()), 40)
		if err := writeIfChanged(filepath.Join(tree, "dist", name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// createOrders fills the database: 60 customers and 240 orders.
func createOrders(ctx context.Context, tree string) error {
	var b strings.Builder
	b.WriteString(stepFiles("start")["db/001_orders.sql"])
	for i := range 60 {
		fmt.Fprintf(&b, "INSERT INTO customers (mail) VALUES ('customer%d@shopfront.test');\n", i+1)
	}
	for i := range 240 {
		product := strings.ReplaceAll(shapes[i%len(shapes)], "-", " ")
		if i == 40 {
			product = "tea bowl"
		}
		placed := fmt.Sprintf("2026-%02d-%02d", 3+i/30, 1+i%28)
		fmt.Fprintf(&b, "INSERT INTO orders (id, customer, product, placed) VALUES (%d, %d, '%s, order %d', '%s');\n", 1001+i, 1+i%60, product, 1001+i, placed)
	}
	return execStatements(ctx, tree, "BEGIN;\n"+b.String()+"COMMIT;\n")
}

// runMigrationFile runs a file of statements on the database of the shop.
func runMigrationFile(ctx context.Context, tree, file string) error {
	b, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(file)))
	if err != nil {
		return fmt.Errorf("read migration: %w", err)
	}
	return execStatements(ctx, tree, string(b))
}

func execStatements(ctx context.Context, tree, text string) error {
	if err := os.MkdirAll(filepath.Join(tree, "data"), 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	db, err := sql.Open("sqlite", filepath.Join(tree, "data", "shop.db"))
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	_, err = db.ExecContext(ctx, text)
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("run statements: %w", err)
	}
	return nil
}
