package cli_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// shape is a JSON object as a type writes it. Types are read for what a field is, and
// samples are written for whether it is there: some types write themselves.
type shape struct {
	fields []jsonField
	raws   []string // fields beside another one that is not UTF-8
}

// jsonField is one field; owner is the type that declares it, which has its text.
type jsonField struct {
	key      string
	typ      reflect.Type
	owner    reflect.Type
	optional bool
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	eventType    = reflect.TypeFor[retake.Event]()
)

// shapeOf reads a type. Odd says what its samples have that the type has not, or the
// other way round.
func shapeOf(t reflect.Type) (s shape, odd []string) {
	full, bytes, zero := keysOf(sample(t, "x")), keysOf(sample(t, "\xff")), keysOf(reflect.New(t).Elem())
	for _, f := range withTexts(declared(t), full) {
		f.optional = !zero[f.key]
		s.fields = append(s.fields, f)
		if !full[f.key] {
			odd = append(odd, f.key+" is never written")
		}
		delete(full, f.key)
		delete(bytes, f.key)
	}
	for key := range full {
		odd = append(odd, key+" is written, and no field has it")
	}
	for _, f := range s.fields { // in their order
		if bytes[f.key+"_raw"] {
			s.raws = append(s.raws, f.key+"_raw")
			delete(bytes, f.key+"_raw")
		}
	}
	for key := range bytes {
		odd = append(odd, key+" is written for bytes, and no field has it")
	}
	return s, odd
}

// withTexts adds the texts that are written beside durations.
func withTexts(fields []jsonField, written map[string]bool) (out []jsonField) {
	for _, f := range fields {
		out = append(out, f)
		if f.typ == durationType && written[f.key+"_text"] {
			out = append(out, jsonField{key: f.key + "_text", typ: reflect.TypeFor[string](), owner: f.owner})
		}
	}
	return out
}

// declared are the fields of a struct and of those that it embeds.
func declared(t reflect.Type) []jsonField {
	var out []jsonField
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "":
			out = append(out, declared(element(f.Type))...)
		case key != "-" && key != "" && f.IsExported():
			if t == eventType && key == "data" { // stored as it was written
				f.Type = reflect.TypeFor[retake.EventData]()
			}
			out = append(out, jsonField{key: key, typ: f.Type, owner: t})
		}
	}
	return out
}

// embedded are the structs that t embeds, whose fields are its own.
func embedded(t reflect.Type) []reflect.Type {
	var out []reflect.Type
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && f.Tag.Get("json") == "" {
			out = append(out, element(f.Type))
		}
	}
	return out
}

func element(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// object is the struct that a field holds, alone, in a list or in a map; nil: none.
func object(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return object(t.Elem())
	case reflect.Struct:
		if t != timeType {
			return t
		}
	default:
	}
	return nil
}

func keysOf(v reflect.Value) map[string]bool {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		panic(err) // a sample that a command could not write either
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil {
		panic(err)
	}
	out := map[string]bool{}
	for key := range m {
		out[key] = true
	}
	return out
}

// sample is a value of which no field is empty.
func sample(t reflect.Type, text string) reflect.Value {
	v := reflect.New(t).Elem()
	fill(v, text, 0)
	return v
}

// deepest bounds samples of types that hold themselves.
const deepest = 8

func fill(v reflect.Value, text string, depth int) {
	if !v.CanSet() || depth > deepest {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	default:
		fillMany(v, text, depth+1)
	}
}

func fillMany(v reflect.Value, text string, depth int) {
	switch t := v.Type(); {
	case t == timeType:
		v.Set(reflect.ValueOf(now))
	case t == rawType:
		v.SetBytes([]byte("{}"))
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		fill(v.Elem(), text, depth)
	case t.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		fill(v.Index(0), text, depth)
	case t.Kind() == reflect.Array:
		fill(v.Index(0), text, depth)
	case t.Kind() == reflect.Map:
		key, value := sample(t.Key(), text), reflect.New(t.Elem()).Elem()
		fill(value, text, depth)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, value)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			fill(v.Field(i), text, depth)
		}
	}
}
